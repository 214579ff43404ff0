"""A cluster without controller in memory: one tree of znodes, brokers with sessions, and an administrator.

Nothing happens by itself. `settle` lets every broker do its pending work, `pass_time` advances the clock, and
`random_step` is one operation, watch, fetch or timer of a random broker.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fencepost.cluster_impl.config.leader_driven import LeaderDrivenConfig
from fencepost.cluster_impl.coordination.steps import Create, Delete, Done, Operation, Outcome, SetData, names
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.queue import NotQueued, put
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange, StateChangeRequest
from fencepost.cluster_impl.designs.leader_driven.znodes import Leader
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.leader_driven.invariants import Watcher
from tests.cluster_impl.designs.leader_driven.memory_broker import MemoryBroker, Task, Work
from tests.cluster_impl.designs.leader_driven.memory_data_plane import Disk
from tests.cluster_impl.designs.znode_tree import ZnodeTree

CONFIG = LeaderDrivenConfig(
    preferred_wait=0.3, election_wait=1.5, keep_in_sync=1.5, tick=0.1, queue_capacity=100, auto_leader_rebalance=False
)


def partition(text: str) -> TopicPartition:
    """`t-0`"""
    topic, _, index = text.rpartition("-")
    return TopicPartition(topic, int(index))


@dataclass(frozen=True, slots=True)
class Node:
    data: bytes
    version: int
    czxid: int


class MemoryCluster:
    def __init__(self, *broker_ids: int, seed: int = 0, **config: Any) -> None:
        self.tree = ZnodeTree()
        self.config = replace(CONFIG, **config)
        self.now = 1000.0
        self.random = random.Random(seed)
        self.brokers: dict[int, MemoryBroker] = {}
        self.disks: dict[int, Disk] = {}
        self.wanted: dict[TopicPartition, tuple[int, ...]] = {}
        self.stale: dict[tuple[int, TopicPartition, int], int] = {}
        self.watcher = Watcher(self)
        self.before: Callable[[Operation, int], None] = lambda operation, session: None
        """Called with each operation of a broker, by its session, before it is executed."""
        self.admin: list[Task] = []
        self.frozen: set[int] = set()
        """Brokers that do nothing in `settle` and `pass_time`."""
        self._sessions = 0
        self._ended: set[int] = set()
        self._dead: list[int] = []
        """Sessions of killed processes that ZooKeeper has not given up yet."""
        for path in znodes.ROOTS:
            if not self.tree.exists(path):
                self.tree.create(path)
        for broker_id in broker_ids:
            self.start(broker_id)
        if broker_ids:
            self.settle()

    # Brokers

    def new_session(self) -> int:
        self._sessions += 1
        return self._sessions

    def is_alive(self, session: int) -> bool:
        return session not in self._ended

    def start(self, broker_id: int) -> MemoryBroker:
        broker = MemoryBroker(broker_id, self.disks.setdefault(broker_id, Disk()), self)
        self.brokers[broker_id] = broker
        return broker

    def kill(self, broker_id: int, *, expire: bool = True) -> None:
        """End the process, and with `expire` its session."""
        broker = self.brokers.pop(broker_id)
        broker.end()
        self._dead.append(broker.session)
        if expire:
            self.expire_dead()

    def expire_dead(self) -> None:
        """Expire the sessions of all killed processes."""
        for session in self._dead:
            self._end(session)
        self._dead.clear()

    def expire(self, broker_id: int) -> None:
        """Expire the session of a living process, which learns of it later."""
        self._end(self.brokers[broker_id].session)

    def _end(self, session: int) -> None:
        self._ended.add(session)
        self.tree.end_session(session)

    # ZooKeeper

    def execute(self, operation: Operation, session: int) -> Outcome:
        self.before(operation, session)
        if isinstance(operation, Delete) and operation.path.startswith(f"{znodes.STATE}/"):
            self.watcher.drops(operation.path, session)
        [outcome] = self.tree.execute([operation], session)
        self.watcher.look()
        return outcome

    def node(self, path: str) -> Node | None:
        found = self.tree.node(path)
        return Node(*found) if found is not None else None

    def partitions(self) -> list[TopicPartition]:
        return [
            TopicPartition(topic, int(index))
            for topic in self.tree.names(znodes.TOPICS)
            for index in self.tree.names(znodes.topic(topic))
        ]

    def leader(self, of: TopicPartition) -> Leader | None:
        node = self.node(znodes.leader(of))
        return znodes.read_leader(of, node.data) if node is not None else None

    # Administration

    def administer(self, work: Work[None]) -> None:
        self.admin.append(Task(work))

    def create_topic(self, name: str, *layout: Sequence[int]) -> None:
        self.administer(self._create_topic(name, layout))

    def _create_topic(self, name: str, layout: Sequence[Sequence[int]]) -> Work[None]:
        yield [Create(znodes.topic(name), znodes.write_topic(znodes.TopicZnode()))]
        yield [Create(znodes.reassigned_topic(name))]
        for index, replicas in enumerate(layout):
            of = TopicPartition(name, index)
            self.wanted[of] = tuple(replicas)
            yield [Create(znodes.partition(of)), Create(znodes.reassigned(of), znodes.write_replicas(replicas))]
            paths: list[str] = []
            for each in replicas:
                paths += [(yield from self._ask(StateChange.START_REPLICA, of, each))]
            yield partial(self._are_gone, paths)
            yield [Create(znodes.replicas(of), znodes.write_replicas(replicas))]
            yield [Delete(znodes.reassigned(of))]

    def _ask(self, change: StateChange, of: TopicPartition, to: int) -> Work[str]:
        request = StateChangeRequest.by_admin(change, of)
        while True:
            try:
                return (yield from put(request, to, self.config.queue_capacity, StateChangeMonitor(-1)))
            except NotQueued:
                yield partial(self._is_past, self.now + 0.2)

    def _are_gone(self, paths: Sequence[str]) -> bool:
        return not any(map(self.tree.exists, paths))

    def _is_past(self, until: float) -> bool:
        return self.now >= until

    def is_settled(self, of: TopicPartition) -> bool:
        """Return True if the partition exists and no reassignment of it is under way."""
        return self.tree.exists(znodes.replicas(of)) and not self.tree.exists(znodes.reassigned(of))

    def reassign(self, name: str, *replicas: int) -> None:
        of = partition(name)
        self.wanted[of] = replicas
        self.tree.create(znodes.reassigned(of), znodes.write_replicas(replicas))

    def delete_topic(self, name: str) -> None:
        for of in list(self.wanted):
            if of.topic == name:
                del self.wanted[of]
        self.administer(self._delete_topic(name))

    def _delete_topic(self, name: str) -> Work[None]:
        """Act as an administrator that waits for the live brokers."""
        for index in (yield from names(znodes.topic(name))):
            of = TopicPartition(name, int(index))
            [made] = yield [Create(znodes.reassigned(of), znodes.write_replicas(()))]
            if not isinstance(made, Done):
                yield [SetData(znodes.reassigned(of), znodes.write_replicas(()))]
            version = self.tree.version(znodes.reassigned(of))
            yield partial(self._is_closed, of, self.now + 3.0)
            if not self._is_closed(of) and self.tree.version(znodes.reassigned(of)) == version:  # no leader has asked
                node = self.node(znodes.replicas(of))
                assert node is not None
                for each in znodes.read_replicas(of, node.data):
                    yield from self._ask(StateChange.CLOSE_REPLICA, of, each)
            yield partial(self._is_closed, of)
            while self.tree.exists(znodes.partition(of)):
                yield [
                    Delete(znodes.replicas(of)), Delete(znodes.leader(of)), Delete(znodes.isr(of)),
                    Delete(znodes.partition(of)),
                ]  # fmt: skip
            yield [Delete(znodes.reassigned(of))]
        yield [Delete(znodes.reassigned_topic(name)), Delete(znodes.topic(name))]

    def _is_closed(self, of: TopicPartition, until: float | None = None) -> bool:
        """Return True if no live broker has the replica, or the time is over."""
        if until is not None and self.now >= until:
            return True
        return not any(of in broker.disk.logs for broker in self.brokers.values())

    # Time

    def settle(self) -> None:
        """Let every broker do its pending work, in random order, and followers fetch until nothing changes."""
        for _ in range(200_000):
            if not self._anything():
                return
        raise AssertionError("the cluster does not come to rest")

    def _anything(self) -> bool:
        todo = [*self._tasks()]
        if todo:
            self.random.choice(todo)()
            return True
        before = self._standing()
        for broker in self._awake():
            broker.tick()
        self._fetch_all()
        return bool(self._tasks()) or self._standing() != before

    def _standing(self) -> object:
        return [
            (of, replica.log_end_offset, replica.high_watermark, [*replica.followers.values()][:0])
            for broker in self.brokers.values()
            for of, replica in broker.data_plane.replicas.items()
        ]

    def _tasks(self) -> list[Callable[[], None]]:
        todo: list[Callable[[], None]] = [
            partial(task.step, lambda operation: self.execute(operation, 0)) for task in self.admin if task.is_ready
        ]
        for broker in self._awake():
            todo += [partial(broker.step, task) for task in broker.tasks if task.is_ready]
            if broker.fired:
                todo.append(broker.notify)
            if not self.is_alive(broker.session):
                todo.append(broker.lose_session)
        return todo

    def _awake(self) -> list[MemoryBroker]:
        return [broker for broker in self.brokers.values() if broker.id not in self.frozen]

    def _fetch_all(self) -> None:
        for broker in self._awake():
            for of in broker.data_plane.following():
                self.fetch(broker, of)

    def fetch(self, broker: MemoryBroker, of: TopicPartition) -> None:
        leader = self.brokers.get(broker.data_plane.replicas[of].leader)
        if leader is not None and broker.data_plane.fetch(of, broker.epoch, leader.data_plane, leader.known):
            leader.consider_isr(of)

    def pass_time(self, seconds: float, step: float = 0.1) -> None:
        until = self.now + seconds
        while self.now < until:
            self.now += step
            for broker in self._awake():
                for of in list(broker.data_plane.replicas):
                    broker.consider_isr(of)
            self.settle()

    def until(self, condition: Callable[[], bool], within: float = 30.0) -> None:
        until = self.now + within
        self.settle()
        while not condition():
            assert self.now < until, "it did not come to pass"
            self.pass_time(0.1)
