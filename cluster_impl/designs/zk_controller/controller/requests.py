"""The requests that a controller serves: who asks for what, and what is left to do after the answer."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.zk_controller.controller import replica_state_event
from cluster_impl.designs.zk_controller.controller.create_topics import create_topics
from cluster_impl.designs.zk_controller.controller.events import Asked
from cluster_impl.designs.zk_controller.controller.isr_requests import change_isr
from cluster_impl.designs.zk_controller.controller.log_dirs import offline_replicas
from cluster_impl.designs.zk_controller.controller.parts import Parts
from cluster_impl.designs.zk_controller.controller.refusals import not_controller
from cluster_impl.designs.zk_controller.controller.replica_state_event import ReplicasOffline
from cluster_impl.designs.zk_controller.states import BrokerState
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message

log = logging.getLogger(__name__)


class _Once:
    """Calls `reply` with the first answer, and refuses if there was none when the term ended in the middle."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self.is_done = False

    def __call__(self, response: Message) -> None:
        self.is_done = True
        self._asked.reply(response)

    def refuse(self) -> None:
        if not self.is_done:
            self(not_controller(self._asked.request))


class Requests:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.deferred: deque[ReplicasOffline] = deque()
        """What was answered, and is carried out by a later event (ReplicaStateEvent, Proposed Changes)."""

    def ask(self, asked: Asked) -> Steps[None]:
        reply = _Once(asked)
        answered_later = False
        try:
            match asked.request:
                case m.MetadataHeartbeatRequest() as request:
                    yield from self._heartbeat(request, reply, asked.now)
                case m.IsrChangeRequest() as request:
                    reply((yield from change_isr(self._parts.core, self._parts.view, request)))
                case m.ReplicaStateEventRequest() as request:
                    self._replica_state_event(request, reply, asked.allowed)
                case m.ControlledShutdownRequest() as request:
                    reply((yield from self._parts.shutdown.ask(request, asked.version)))
                case m.CreateTopicsRequest() as request:
                    core, topics = self._parts.core, self._parts.topics
                    reply((yield from create_topics(topics, core.context, request, self._parts.config)))
                case m.DeleteTopicsRequest() as request:
                    answered_later = True
                    yield from self._parts.topic_deletions.ask(request, asked.version, reply, asked.now)
                    yield from self._parts.deletion.resume()
                case _:
                    raise AssertionError(f"{type(asked.request).__name__} is none that a controller serves")
        finally:
            if not answered_later:
                reply.refuse()

    def at_once(self, asked: Asked) -> bool:
        """Answer a heartbeat that changes nothing; False for everything else.

        One of a broker that is not known waits: its registration may only not have been read yet.
        """
        request = asked.request
        if not isinstance(request, m.MetadataHeartbeatRequest):
            return False
        if self._parts.states.incarnation(request.broker_id) is None:
            return False
        if not self._parts.states.changes_nothing(request):
            return False
        asked.reply(self._parts.states.heartbeat(request, asked.now).response)
        return True

    def go_on(self) -> Steps[None]:
        """Carry out what was answered before."""
        if not self.deferred:
            return
        event = self.deferred.popleft()
        if replica_state_event.still_holds(self._parts.view, event):
            log.info("broker %d reports replicas as offline: %s", event.broker_id, event.reason)
            yield from offline_replicas(
                self._parts.core, self._parts.liveness, event.broker_id, event.broker_epoch, event.partitions
            )
        else:
            log.info("broker %d was registered anew since it reported replicas as offline", event.broker_id)

    def _heartbeat(
        self, request: m.MetadataHeartbeatRequest, reply: Callable[[Message], None], now: float
    ) -> Steps[None]:
        """The answer comes first: what a transition takes may be long, and the sender's timer runs."""
        heard = self._parts.states.heartbeat(request, now)
        reply(heard.response)
        transition = heard.transition
        if transition is None:
            return
        log.info("broker %d is %s now", transition.broker_id, transition.after.name)
        if transition.taken_over is not None:
            yield from self._parts.liveness.read()
        yield from self._parts.liveness.reconcile()
        if transition.begins_to_stop:
            self._parts.shutdown.begin(transition.broker_id)
        elif transition.before is BrokerState.STOPPING and transition.after is BrokerState.ACTIVE:
            yield from self._parts.shutdown.end(transition.broker_id)

    def _replica_state_event(
        self, request: m.ReplicaStateEventRequest, reply: Callable[[Message], None], allowed: bool
    ) -> None:
        """Validated and answered now, carried out by a later event."""
        validated = replica_state_event.validate(self._parts.view, request, allowed=allowed)
        if validated.event is not None:
            self.deferred.append(validated.event)
        reply(validated.response)
