"""The requests that the active controller decides: the decision on each, and the answer if it is not in time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from uuid import uuid4

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.acls import create_acls, delete_acls, describe_acls
from fencepost.cluster_impl.designs.quorum.controller.alter_isr import alter_isr
from fencepost.cluster_impl.designs.quorum.controller.controller import QuorumController
from fencepost.cluster_impl.designs.quorum.controller.controller_heartbeats import controller_heartbeat
from fencepost.cluster_impl.designs.quorum.controller.create_partitions import create_partitions
from fencepost.cluster_impl.designs.quorum.controller.elect_leaders import elect_leaders
from fencepost.cluster_impl.designs.quorum.controller.placing import NotHeardYet
from fencepost.cluster_impl.designs.quorum.controller.reassignment import alter_reassignments, list_reassignments
from fencepost.cluster_impl.designs.quorum.controller.settings import alter_configs, update_features
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.controller.term import TermEnded
from fencepost.cluster_impl.designs.quorum.controller.topics import complete_deletions, create_topics, delete_topics
from fencepost.cluster_impl.designs.quorum.features import missing_level, support_of
from fencepost.cluster_impl.designs.quorum.refused_heartbeat import refused_heartbeat
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal
from fencepost.cluster_impl.wire.server import Handler, Request

log = logging.getLogger(__name__)

RETRY = 0.1
"""Seconds between attempts to create a topic while too few brokers are known to be active."""

Operation = Callable[[ControllerState, Any, float], ControllerResult[Message]]
"""Decides on the body of a request at a time (seconds, monotonic). Raises NotHeardYet."""

_TIMED_AT_ARRIVAL = (m.BrokerHeartbeatRequest, m.AlterIsrRequest)
"""The requests that are decided as of their arrival: those of brokers, whose leases may end meanwhile."""


class ControllerRequests:
    """The handlers of one controller, whether it is active or not."""

    def __init__(self, controller: QuorumController, defaults: TopicDefaults) -> None:
        self._controller = controller
        self._defaults = defaults
        self._operations: Mapping[type[Message], Operation] = {
            m.BrokerHeartbeatRequest: heartbeats.heartbeat,
            m.ControllerHeartbeatRequest: controller_heartbeat,
            m.AlterIsrRequest: alter_isr,
            m.CreateTopicsRequest: self._create_topics,
            m.CreatePartitionsRequest: create_partitions,
            m.ElectLeadersRequest: elect_leaders,
            m.AlterPartitionReassignmentsRequest: alter_reassignments,
            m.ListPartitionReassignmentsRequest: _at_any_time(list_reassignments),
            m.AlterConfigsRequest: _at_any_time(alter_configs),
            m.IncrementalAlterConfigsRequest: _at_any_time(alter_configs),
            m.UpdateFeaturesRequest: _at_any_time(update_features),
            m.CreateAclsRequest: _at_any_time(create_acls),
            m.DescribeAclsRequest: _at_any_time(describe_acls),
            m.DeleteAclsRequest: _at_any_time(delete_acls),
        }
        """The decision on each request; DeleteTopics has two, one after the other."""
        keys = [request.API_KEY for request in self._operations]
        self.handlers: Mapping[int, Handler] = dict.fromkeys([*keys, m.DeleteTopicsRequest.API_KEY], self._handle)

    def _handle(self, request: Request) -> Awaitable[Message]:
        self._controller.meters.requests.add()
        return self.answer(request.body, request.received_at, request.version)

    async def answer(self, body: Message, received_at: float, version: int = 0) -> Message:
        """Return the response to a request, which refuses it if this controller is not active or not in time."""
        timeout_ms = getattr(body, "timeout_ms", None)
        try:
            async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
                if isinstance(body, m.DeleteTopicsRequest):
                    return await self._delete_topics(body, version)
                return await self._decided(body, received_at)
        except TermEnded as why:
            if isinstance(body, m.BrokerHeartbeatRequest):
                return refused_heartbeat(body, Error.NOT_CONTROLLER, self._controller.leader)
            return refusal(body, Error.NOT_CONTROLLER, f"Ask the active controller: {why}.")
        except TimeoutError:
            return refusal(body, Error.REQUEST_TIMED_OUT, "The change was not committed in time; it may still be.")
        finally:
            self._controller.watch_leases()

    async def controller_heartbeat(self, body: m.ControllerHeartbeatRequest) -> m.ControllerHeartbeatResponse:
        """Answer a heartbeat of a controller, once a majority has confirmed that this one is active."""
        response = await self.answer(body, time.monotonic())
        assert isinstance(response, m.ControllerHeartbeatResponse)
        return response

    async def _decided(self, body: Message, received_at: float) -> Message:
        """Decide, and wait until brokers that may be active report themselves or their lease is over.

        A lease begins when its heartbeat arrives. Raises TermEnded.
        """
        operation = self._operations[type(body)]
        while True:
            now = received_at if isinstance(body, _TIMED_AT_ARRIVAL) else time.monotonic()
            try:
                response = await self._controller.run(partial(_at, operation, body, now), now)
            except NotHeardYet:
                await asyncio.sleep(RETRY)
            else:
                self._log_missing_level(body, response)
                return response

    def _log_missing_level(self, body: Message, response: Message) -> None:
        if (
            isinstance(body, m.BrokerHeartbeatRequest)
            and isinstance(response, m.BrokerHeartbeatResponse)
            and response.error_code == Error.UNSUPPORTED_VERSION
        ):
            why = missing_level(self._controller.committed.features, support_of(body.features))
            log.warning("broker %d is refused: %s", body.broker_id, why)

    def _create_topics(
        self, state: ControllerState, body: m.CreateTopicsRequest, now: float
    ) -> ControllerResult[m.CreateTopicsResponse]:
        return create_topics(state, body, now, self._defaults, uuid4)

    async def _delete_topics(self, body: m.DeleteTopicsRequest, version: int) -> Message:
        controller = self._controller
        response = await controller.run(lambda state: delete_topics(state, body, version), time.monotonic())
        # The marks are committed: answer when the topics are gone.
        return await controller.run(
            lambda state: ControllerResult(response, complete_deletions(state, controller.committed)), time.monotonic()
        )


def _at(operation: Operation, body: Message, now: float, state: ControllerState) -> ControllerResult[Message]:
    return operation(state, body, now)


def _at_any_time(decide: Callable[[ControllerState, Any], ControllerResult[Message]]) -> Operation:
    """Return the operation of a decision that does not depend on the time."""
    return lambda state, body, _: decide(state, body)
