"""Heartbeats that were sent to a broker: it answers NOT_CONTROLLER (KIP-631, BrokerHeartbeat, ControllerHeartbeat).

Only the listener between nodes knows the two keys, which shipped Kafka has since given to other requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.refused_heartbeat import refused_heartbeat
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Handler, Request


class MisdirectedHeartbeats:
    """The handlers of a broker. A response names the controller that this broker believes to be active, else -1."""

    def __init__(self, finder: ControllerFinder) -> None:
        self._finder = finder
        self.handlers: Mapping[int, Handler] = {
            m.BrokerHeartbeatRequest.API_KEY: self._broker_heartbeat,
            m.ControllerHeartbeatRequest.API_KEY: self._controller_heartbeat,
        }

    def _broker_heartbeat(self, request: Request) -> m.BrokerHeartbeatResponse:
        body = cast("m.BrokerHeartbeatRequest", request.body)
        return refused_heartbeat(body, Error.NOT_CONTROLLER, self._finder.believed)

    def _controller_heartbeat(self, _: Request) -> m.ControllerHeartbeatResponse:
        return m.ControllerHeartbeatResponse(error_code=Error.NOT_CONTROLLER)
