"""The requests that a controller serves, with the work that follows after some responses."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.zk_controller.broker_state import BrokerState
from fencepost.cluster_impl.designs.zk_controller.controller.brokers import replica_state_event
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.isr_change import change_isr
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.log_dirs import offline_replicas
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.replica_state_event import OfflineReplicas
from fencepost.cluster_impl.designs.zk_controller.controller.components import Components
from fencepost.cluster_impl.designs.zk_controller.controller.events import ReceivedRequest
from fencepost.cluster_impl.designs.zk_controller.controller.refusals import not_controller
from fencepost.cluster_impl.designs.zk_controller.controller.topics.create_partitions import create_partitions
from fencepost.cluster_impl.designs.zk_controller.controller.topics.create_topics import create_topics
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message

log = logging.getLogger(__name__)


class _SingleReply:
    """Sends a response; `refuse` answers NOT_CONTROLLER if the term ended before there was one."""

    def __init__(self, received: ReceivedRequest) -> None:
        self._received = received
        self.is_done = False

    def __call__(self, response: Message) -> None:
        self.is_done = True
        self._received.reply(response)

    def refuse(self) -> None:
        if not self.is_done:
            self(not_controller(self._received.request))


class RequestHandler:
    """Carries out the requests of brokers and clients."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self.deferred: deque[OfflineReplicas] = deque()
        """Reports that were answered and are carried out by a later event (ReplicaStateEvent, Proposed Changes)."""

    def ask(self, received: ReceivedRequest) -> Steps[None]:
        reply = _SingleReply(received)
        answered_later = False
        try:
            match received.request:
                case m.MetadataHeartbeatRequest() as request:
                    yield from self._heartbeat(request, reply, received.now)
                case m.IsrChangeRequest() as request:
                    reply((yield from change_isr(self._components.machines, self._components.view, request)))
                case m.ReplicaStateEventRequest() as request:
                    self._replica_state_event(request, reply, received.allowed)
                case m.ControlledShutdownRequest() as request:
                    reply((yield from self._components.shutdown.ask(request, received.version)))
                case m.CreateTopicsRequest() as request:
                    machines, topics = self._components.machines, self._components.topics
                    reply((yield from create_topics(topics, machines.context, request, self._components.config)))
                case m.DeleteTopicsRequest() as request:
                    answered_later = True
                    yield from self._components.delete_requests.ask(request, received.version, reply, received.now)
                    yield from self._components.deletion.resume()
                case m.CreatePartitionsRequest() as request:
                    topics, context = self._components.topics, self._components.machines.context
                    reply((yield from create_partitions(topics, context, request)))
                case m.ElectLeadersRequest() as request:
                    reply((yield from self._components.preferred.answer(request)))
                case m.AlterPartitionReassignmentsRequest() as request:
                    reply((yield from self._components.reassignments.answer_alter(request)))
                case m.ListPartitionReassignmentsRequest() as request:
                    reply(self._components.reassignments.answer_list(request))
                case _:
                    raise AssertionError(f"{type(received.request).__name__} is not served by a controller")
        finally:
            if not answered_later:
                reply.refuse()

    def answer_at_once(self, received: ReceivedRequest) -> bool:
        """Answer a heartbeat that changes nothing; return False for every other request.

        The heartbeat of an unknown broker waits, as its registration may not have been read yet.
        """
        request = received.request
        if not isinstance(request, m.MetadataHeartbeatRequest):
            return False
        if self._components.states.incarnation(request.broker_id) is None:
            return False
        if not self._components.states.changes_nothing(request):
            return False
        received.reply(self._components.states.heartbeat(request, received.now).response)
        return True

    def carry_out_deferred(self) -> Steps[None]:
        """Carry out the oldest report that was answered before."""
        if not self.deferred:
            return
        event = self.deferred.popleft()
        if replica_state_event.still_holds(self._components.view, event):
            log.info("broker %d reports replicas as offline: %s", event.broker_id, event.reason)
            yield from offline_replicas(
                self._components.machines,
                self._components.liveness,
                event.broker_id,
                event.broker_epoch,
                event.partitions,
            )
        else:
            log.info("broker %d has registered again since it reported replicas as offline", event.broker_id)

    def _heartbeat(
        self, request: m.MetadataHeartbeatRequest, reply: Callable[[Message], None], now: float
    ) -> Steps[None]:
        """Respond, then carry out the transition, which may take long while the sender's timer runs."""
        result = self._components.states.heartbeat(request, now)
        reply(result.response)
        transition = result.transition
        if transition is None:
            return
        log.info("broker %d is %s now", transition.broker_id, transition.after.name)
        if transition.taken_over is not None:
            yield from self._components.liveness.read()
        yield from self._components.liveness.reconcile()
        if transition.begins_to_stop:
            self._components.shutdown.begin(transition.broker_id)
        elif transition.before is BrokerState.STOPPING and transition.after is BrokerState.ACTIVE:
            yield from self._components.shutdown.end(transition.broker_id)

    def _replica_state_event(
        self, request: m.ReplicaStateEventRequest, reply: Callable[[Message], None], allowed: bool
    ) -> None:
        """Validate and answer a report; a later event carries it out."""
        validated = replica_state_event.validate(self._components.view, request, allowed=allowed)
        if validated.event is not None:
            self.deferred.append(validated.event)
        reply(validated.response)
