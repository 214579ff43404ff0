"""The work of a broker in one ZooKeeper session: start-up in the document's order, then events ("brokerStartup")."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from fencepost.cluster_impl.coordination.errors import SessionExpired
from fencepost.cluster_impl.coordination.execution import Execution
from fencepost.cluster_impl.coordination.steps import Delete, Found, Get, Steps, run
from fencepost.cluster_impl.coordination.znodes import WatchEvent, WatchKind
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker.assigned_replicas import (
    AssignedReplicas,
    read_assigned_replicas,
    read_in_sync,
)
from fencepost.cluster_impl.designs.leader_driven.broker.queue_listener import QueueListener, make_queue
from fencepost.cluster_impl.designs.leader_driven.broker.reassigned_listener import ReassignedListener
from fencepost.cluster_impl.designs.leader_driven.broker.replica_driver import ReplicaDriver
from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.designs.leader_driven.partition.replica_context import ReplicaContext
from fencepost.cluster_impl.designs.leader_driven.state_changes.handling import NotStarted
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.strays import Strays
from fencepost.cluster_impl.replication.control_plane import TopicPartition

log = logging.getLogger(__name__)


class BrokerSession:
    """Create it when the session is open; call `end` when the session is over or about to be closed."""

    def __init__(self, zookeeper: ZooKeeper, context: ReplicaContext, strays: Strays) -> None:
        self._zookeeper = zookeeper
        self._context = context
        self._strays = strays
        self.execution = Execution(zookeeper, self._znode_changed)
        self.replicas = ReplicaDriver(self.execution, self._agent, self._leads)
        self.queue = QueueListener(self.execution, self.replicas, context.monitor, self.start_assigned)
        self._reassigned = ReassignedListener(self.execution, self._reassigned_changed)
        self._in_sync_strays: frozenset[TopicPartition] = frozenset()
        self._keeps_strays = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Do everything of the start-up but the registration. Raises SessionExpired."""
        await self.execution.run(make_queue(self._context.broker_id))
        await self.queue.drain()
        await self.start_assigned()
        work = (self.queue.run(), self._reassigned.run(), self._remove_kept_strays())
        self._tasks = [asyncio.create_task(coroutine) for coroutine in work]

    async def start_assigned(self) -> None:
        """Start every replica that is assigned to this broker, and remove the others. Raises SessionExpired."""
        assigned = await self._remove_strays()
        log.info("broker %d has %d replicas", self._context.broker_id, len(assigned.own))
        await self._start(sorted(assigned.own, key=str))

    async def _remove_strays(self) -> AssignedReplicas:
        """Remove replicas that are not assigned here, except those that may be the last copy.

        These stay until the ISR has gone on without them.
        """
        me = self._context.broker_id
        assigned: AssignedReplicas = await self.execution.run(read_assigned_replicas(me))
        kept = assigned.own | assigned.unknown
        in_sync = await self.execution.run(read_in_sync(me, self._strays.beside({*kept, *self.replicas})))
        for at in sorted(in_sync - self._in_sync_strays, key=str):
            log.warning("%s: it is not assigned here, and kept, because the ISR names this broker", at)
        self._in_sync_strays = in_sync
        if in_sync:
            self._keeps_strays.set()
        self._strays.remove({*kept, *in_sync, *self.replicas})
        return assigned

    async def _remove_kept_strays(self) -> None:
        """Retry the removal of kept strays until the session is over. Raises SessionExpired."""
        while True:
            await self._keeps_strays.wait()
            await asyncio.sleep(self._context.config.keep_in_sync)  # the time in which a leader drops silent members
            self._keeps_strays.clear()
            await self._remove_strays()

    async def _start(self, partitions: Sequence[TopicPartition]) -> None:
        starts = [self.replicas.ask(at, lambda agent, now: agent.start(now)) for at in partitions]
        outcomes = await asyncio.gather(*starts, return_exceptions=True)
        for at, outcome in zip(partitions, outcomes, strict=True):
            if isinstance(outcome, (NotStarted, MalformedZnode)):
                log.error("%s was not started: %s", at, outcome)
            elif isinstance(outcome, BaseException):
                raise outcome

    async def run(self) -> None:
        """Handle events until the session is over. Raises SessionExpired."""
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            if not task.cancelled():
                task.result()
        raise SessionExpired("the session is over")

    def end(self) -> None:
        """Stop all replicas, tasks and watches."""
        self.replicas.end()
        for task in self._tasks:
            task.cancel()
        self._zookeeper.forget(self._znode_changed)

    async def give_up_leaderships(self) -> None:
        """Stop leading, then delete /leader of every led partition, in this order. Raises SessionExpired."""
        led = self.replicas.led
        self.end()
        if led:
            log.info("giving up %d leaderships", len(led))
            await self.execution.run(_give_up(led))

    def log_dir_failed(self, lost: Iterable[TopicPartition]) -> None:
        for at in lost:
            self.replicas.notify(at, lambda agent, now: agent.log_dir_failed())

    def topic_changed(self, topic: str | None) -> None:
        """Notify the replicas of a topic, None for all topics, that its settings may have changed."""
        for at in list(self.replicas):
            if topic in (None, at.topic):
                self.replicas.notify(at, lambda agent, now: agent.topic_changed())

    def brokers_changed(self) -> None:
        self.replicas.settings_changed()

    def _agent(self, partition: TopicPartition) -> ReplicaAgent:
        return ReplicaAgent(self._context, partition)

    def _leads(self, partition: TopicPartition, does: bool) -> None:
        self._reassigned.leads(partition, does)

    def _reassigned_changed(self, partition: TopicPartition) -> None:
        self.replicas.notify(partition, lambda agent, now: agent.reassigned_changed(now))

    def _znode_changed(self, event: WatchEvent) -> None:
        """Dispatch every watch event of the session."""
        if event.kind is WatchKind.EXPIRED:
            return
        if (of_leader := znodes.partition_of_leader(event.path)) is not None:
            self.replicas.leader_changed(of_leader)
        elif event.path == znodes.state(self._context.broker_id):
            self.queue.changed()
        else:
            self._reassigned.znode_changed(event.path)


def _give_up(partitions: Iterable[TopicPartition]) -> Steps[None]:
    """Delete /leader of each of these partitions that belongs to this session."""
    paths = [znodes.leader(at) for at in partitions]
    found = yield from run([Get(path) for path in paths])
    yield from run(
        [
            Delete(path, znode.stat.version)
            for path, znode in zip(paths, found, strict=True)
            if isinstance(znode, Found) and znode.stat.is_own
        ]
    )
