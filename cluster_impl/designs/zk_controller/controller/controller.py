"""The active controller of one term: events in, steps on znodes and requests to brokers out.

Kafka Internals (2017), Controller. A new term has a new object, which reads everything from ZooKeeper.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import assert_never
from uuid import UUID, uuid4

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller import startup
from fencepost.cluster_impl.designs.zk_controller.controller.brokers import notifications
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.log_dirs import offline_replicas, storage_errors
from fencepost.cluster_impl.designs.zk_controller.controller.components import Components
from fencepost.cluster_impl.designs.zk_controller.controller.events import (
    BrokerResponse,
    Election,
    Event,
    ReceivedRequest,
    Reconnection,
    Resignation,
    Tick,
    ZnodeChange,
)
from fencepost.cluster_impl.designs.zk_controller.controller.request_handler import RequestHandler
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import RegisteredBroker
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import ControllerConfig
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message

log = logging.getLogger(__name__)

__all__ = ["Controller", "ControllerConfig", "RegisteredBroker"]


class Controller:
    """The controller as `runtime.term` drives it.

    For each event: run the steps of `handle(event)` to their end, keep channels to the `registered` brokers, queue the
    requests from `drain`, and schedule a Tick at `next_tick`.
    """

    def __init__(self, config: ControllerConfig, new_topic_id: Callable[[], UUID] = uuid4) -> None:
        self._components = Components.make(config, new_topic_id)
        self._requests = RequestHandler(self._components)
        self._changes: Mapping[str, Callable[[], Steps[None]]] = {
            znodes.BROKER_IDS: self._brokers_changed,
            znodes.TOPICS: self._topics_changed,
            znodes.DELETE_TOPICS: self._components.deletion.read_requested,
            znodes.REASSIGN_PARTITIONS: self._components.reassignments.read_requested,
            znodes.PREFERRED_REPLICA_ELECTION: self._components.preferred.read_requested,
            znodes.ISR_CHANGES: partial(notifications.isr_changes, self._components.machines),
            znodes.LOG_DIR_EVENTS: partial(notifications.log_dir_events, self._components.machines),
        }

    def handle(self, event: Event) -> Steps[None]:
        """Handle one event to its end. Raises ControllerMoved if a later controller exists."""
        match event:
            case Election(epoch, now):
                yield from startup.elected(self._components, epoch, now)
            case ZnodeChange(path):
                yield from self._znode_changed(path)
            case BrokerResponse(broker_id, request, response):
                yield from self._broker_answered(broker_id, request, response)
            case ReceivedRequest():
                yield from self._requests.ask(event)
            case Tick(now):
                yield from self._tick(now)
            case Reconnection(now):
                self._components.states.give_grace(now)
            case Resignation():
                self._components.delete_requests.resign()
                return
            case _:
                assert_never(event)
        yield from self._components.deletion.begin_waiting()
        self._components.delete_requests.settle()

    def answer_at_once(self, received: ReceivedRequest) -> bool:
        """Answer a request out of turn if it needs no steps and does not affect the present event, else return False.

        This holds for a heartbeat that changes nothing: a broker must not fence itself because another event waits for
        ZooKeeper.
        """
        return self._requests.answer_at_once(received)

    @property
    def registered(self) -> Mapping[int, RegisteredBroker]:
        """The brokers that need a channel. One with a new epoch is another process: it needs a new channel, and the
        requests in the old one are dropped."""
        return self._components.machines.context.registered

    def drain(self) -> Sequence[tuple[int, Message]]:
        """Return the requests that the last event made, with their brokers, in the order in which they must arrive."""
        return self._components.machines.batch.drain()

    def next_tick(self) -> float | None:
        """Return the monotonic time of the next Tick, None if none is needed. A past time means: at once, behind the
        queued events."""
        if self._requests.deferred or self._components.shutdown.is_relieving:
            return 0.0
        times = (
            self._components.states.next_deadline(),
            self._components.preferred.next_check(),
            self._components.delete_requests.next_deadline(),
        )
        return min((each for each in times if each is not None), default=None)

    def _znode_changed(self, path: str) -> Steps[None]:
        if changed := self._changes.get(path):
            yield from changed()
        elif topic := znodes.topic_of(path):
            new = yield from self._components.topics.changed(topic)
            yield from self._components.deletion.topics_appeared(new)
        elif partition := znodes.partition_of_state(path):
            yield from self._components.machines.partitions.state_changed(partition)
            yield from self._components.reassignments.state_changed(partition)
        else:
            log.warning("a watch fired on %s, which this controller does not watch", path)

    def _brokers_changed(self) -> Steps[None]:
        yield from self._components.liveness.read()
        yield from self._components.liveness.reconcile()

    def _topics_changed(self) -> Steps[None]:
        new = yield from self._components.topics.list_changed()
        yield from self._components.deletion.topics_appeared(new)

    def _broker_answered(self, broker_id: int, request: Message, response: Message) -> Steps[None]:
        """Handle a response. It is ignored if its process is no longer the registered one."""
        machines = self._components.machines
        match request, response:
            case m.LeaderAndIsrRequest(), m.LeaderAndIsrResponse():
                if machines.context.live.get(broker_id) == request.broker_epoch:
                    failed = storage_errors(machines, response)
                    yield from offline_replicas(
                        machines, self._components.liveness, broker_id, request.broker_epoch, failed
                    )
            case m.StopReplicaRequest(), m.StopReplicaResponse():
                if machines.context.live.get(broker_id) == request.broker_epoch:
                    yield from self._components.deletion.answered(broker_id, request, response)
            case m.UpdateMetadataRequest(), _:
                pass
            case _:
                log.warning("broker %d answered %s by %s", broker_id, type(request).__name__, type(response).__name__)

    def _tick(self, now: float) -> Steps[None]:
        for transition in self._components.states.expire(now):
            log.info("broker %d is inactive: it sent no heartbeat in time", transition.broker_id)
        yield from self._components.liveness.reconcile()
        yield from self._requests.carry_out_deferred()
        yield from self._components.shutdown.relieve()
        yield from self._components.preferred.check(now)
        self._components.delete_requests.settle(now)
