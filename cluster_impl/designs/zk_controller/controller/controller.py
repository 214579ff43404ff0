"""The active controller, from its election to its resignation: events in, steps on znodes and requests to brokers out.

003, Controller. One object for each term; it remembers nothing of an earlier one, all of it is read from ZooKeeper.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import assert_never
from uuid import UUID, uuid4

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller import notifications, startup
from cluster_impl.designs.zk_controller.controller.brokers import Registration
from cluster_impl.designs.zk_controller.controller.core import ControllerConfig
from cluster_impl.designs.zk_controller.controller.events import (
    Asked,
    BrokerAnswered,
    Elected,
    Event,
    Reconnected,
    Resigned,
    Tick,
    ZnodeChanged,
)
from cluster_impl.designs.zk_controller.controller.log_dirs import offline_replicas, storage_errors
from cluster_impl.designs.zk_controller.controller.parts import Parts
from cluster_impl.designs.zk_controller.controller.requests import Requests
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message

log = logging.getLogger(__name__)

__all__ = ["Controller", "ControllerConfig", "Registration"]


class Controller:
    """How the driver uses it: run the steps of `handle(event)` to their end; then make the channels those of
    `registered`; then queue what `drain` gives; then see that a Tick comes at `next_tick`.
    """

    def __init__(self, config: ControllerConfig, new_topic_id: Callable[[], UUID] = uuid4) -> None:
        self._parts = Parts.make(config, new_topic_id)
        self._requests = Requests(self._parts)
        self._changes: Mapping[str, Callable[[], Steps[None]]] = {
            znodes.BROKER_IDS: self._brokers_changed,
            znodes.TOPICS: self._topics_changed,
            znodes.DELETE_TOPICS: self._parts.deletion.read_asked,
            znodes.REASSIGN_PARTITIONS: self._parts.reassignments.read_asked,
            znodes.PREFERRED_REPLICA_ELECTION: self._parts.preferred.read_asked,
            znodes.ISR_CHANGES: partial(notifications.isr_changes, self._parts.core),
            znodes.LOG_DIR_EVENTS: partial(notifications.log_dir_events, self._parts.core),
        }

    def handle(self, event: Event) -> Steps[None]:
        """One event, to its end. Raises ControllerMoved when a later controller is at work."""
        match event:
            case Elected(epoch, now):
                yield from startup.elected(self._parts, epoch, now)
            case ZnodeChanged(path):
                yield from self._znode_changed(path)
            case BrokerAnswered(broker_id, request, response):
                yield from self._broker_answered(broker_id, request, response)
            case Asked():
                yield from self._requests.ask(event)
            case Tick(now):
                yield from self._tick(now)
            case Reconnected(now):
                self._parts.states.give_grace(now)
            case Resigned():
                self._parts.topic_deletions.resign()
                return
            case _:
                assert_never(event)
        yield from self._parts.deletion.begin_what_waited()
        self._parts.topic_deletions.settle()

    def at_once(self, asked: Asked) -> bool:
        """Answer a request outside its turn, if that needs no steps and disturbs no event that is under way.

        That is so for a heartbeat which changes nothing. A broker must not fence itself because another event waits
        for ZooKeeper. False: it must wait for its turn.
        """
        return self._requests.at_once(asked)

    @property
    def registered(self) -> Mapping[int, Registration]:
        """The brokers that a channel is kept for. One whose epoch changed is another process: its channel begins anew,
        and what waited in the old one is dropped."""
        return self._parts.core.context.registered

    def drain(self) -> Sequence[tuple[int, Message]]:
        """The requests that the last event made, by broker, in the order in which they must arrive there."""
        return self._parts.core.batch.drain()

    def next_tick(self) -> float | None:
        """Monotonic time at which to send Tick; None if nothing waits for the time. Past: at once, behind what is
        queued already."""
        if self._requests.deferred or self._parts.shutdown.has_more:
            return 0.0
        times = (
            self._parts.states.next_deadline(),
            self._parts.preferred.next_check(),
            self._parts.topic_deletions.next_deadline(),
        )
        return min((each for each in times if each is not None), default=None)

    def _znode_changed(self, path: str) -> Steps[None]:
        if changed := self._changes.get(path):
            yield from changed()
        elif topic := znodes.topic_of(path):
            new = yield from self._parts.topics.changed(topic)
            yield from self._parts.deletion.topics_appeared(new)
        elif partition := znodes.partition_of_state(path):
            yield from self._parts.core.partitions.state_changed(partition)
            yield from self._parts.reassignments.state_changed(partition)
        else:
            log.warning("nobody here watches %s", path)

    def _brokers_changed(self) -> Steps[None]:
        yield from self._parts.liveness.read()
        yield from self._parts.liveness.reconcile()

    def _topics_changed(self) -> Steps[None]:
        new = yield from self._parts.topics.list_changed()
        yield from self._parts.deletion.topics_appeared(new)

    def _broker_answered(self, broker_id: int, request: Message, response: Message) -> Steps[None]:
        """Only answers of the process that is registered now count."""
        core = self._parts.core
        match request, response:
            case m.LeaderAndIsrRequest(), m.LeaderAndIsrResponse():
                if core.context.live.get(broker_id) == request.broker_epoch:
                    failed = storage_errors(core, response)
                    yield from offline_replicas(core, self._parts.liveness, broker_id, request.broker_epoch, failed)
            case m.StopReplicaRequest(), m.StopReplicaResponse():
                if core.context.live.get(broker_id) == request.broker_epoch:
                    yield from self._parts.deletion.answered(broker_id, request, response)
            case m.UpdateMetadataRequest(), _:
                pass
            case _:
                log.warning("broker %d answered %s by %s", broker_id, type(request).__name__, type(response).__name__)

    def _tick(self, now: float) -> Steps[None]:
        for transition in self._parts.states.expire(now):
            log.info("broker %d is inactive: it was not heard of in time", transition.broker_id)
        yield from self._parts.liveness.reconcile()
        yield from self._requests.go_on()
        yield from self._parts.shutdown.relieve()
        yield from self._parts.preferred.check(now)
        self._parts.topic_deletions.settle(now)
