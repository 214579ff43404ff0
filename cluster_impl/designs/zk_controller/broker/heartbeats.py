"""The heartbeats of a broker (KIP-343): the state that it requests, and the state that the controller grants."""

from __future__ import annotations

import logging
import time

from fencepost.cluster_impl.designs.shared.heartbeats import RETRY_S, HeartbeatSender, HeartbeatTiming
from fencepost.cluster_impl.designs.zk_controller.broker.lifecycle import Heartbeat, Lifecycle
from fencepost.cluster_impl.designs.zk_controller.broker.link import ControllerLink
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import RequestMessage
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)


class MetadataHeartbeats(HeartbeatSender[Heartbeat, m.MetadataHeartbeatResponse]):
    """Runs a `Lifecycle` against the broker that is the controller at the moment.

    Call `beat_now` when this broker is another incarnation, wants another state, or the controller has changed.
    """

    _lifecycle: Lifecycle
    _link: ControllerLink

    def __init__(self, broker_id: int, lifecycle: Lifecycle, link: ControllerLink, timing: HeartbeatTiming) -> None:
        super().__init__(lifecycle, link, timing)
        self._broker_id = broker_id

    def _state(self) -> str:
        lifecycle = self._lifecycle
        fenced = "" if lifecycle.fence is None else f" and fenced: {lifecycle.fence.value}"
        return f"{lifecycle.state.name} as incarnation {lifecycle.incarnation}{fenced}"

    def _request(self, heartbeat: Heartbeat) -> m.MetadataHeartbeatRequest:
        return m.MetadataHeartbeatRequest(
            broker_id=self._broker_id, incarnation_id=heartbeat.incarnation, target_state=heartbeat.target_state
        )

    def _received(
        self,
        heartbeat: Heartbeat,
        request: RequestMessage[m.MetadataHeartbeatResponse],
        sender: int,
        reply: m.MetadataHeartbeatResponse,
    ) -> float:
        error = Error(reply.error_code)
        self._lifecycle.answered(heartbeat, error, BrokerState(reply.current_state), time.monotonic())
        self.log_state()
        if error is Error.NOT_CONTROLLER:
            self._link.mistaken(sender)
            self._no_controller(f"broker {sender} is not the controller")
            return RETRY_S
        self._controller_answers(sender)
        if error is Error.INVALID_INCARNATION_ID and self._lifecycle.state is BrokerState.INITIAL:
            return RETRY_S  # the controller has not seen the znode yet
        if error not in (Error.NONE, Error.INVALID_INCARNATION_ID):
            log.warning("the controller, broker %d, refuses a heartbeat: %s", sender, reply.error_string or error.name)
        return self._timing.interval
