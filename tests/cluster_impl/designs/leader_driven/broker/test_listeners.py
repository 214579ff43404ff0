"""The znodes that a broker watches, and the assignment that it finds, on a tree of znodes in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import pytest

from fencepost.cluster_impl.coordination.execution import Execution
from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker.assigned_replicas import read_assigned_replicas
from fencepost.cluster_impl.designs.leader_driven.broker.queue_listener import QueueListener, make_queue
from fencepost.cluster_impl.designs.leader_driven.broker.reassigned_listener import ReassignedListener
from fencepost.cluster_impl.designs.leader_driven.broker.replica_driver import ReplicaDriver
from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.leader_driven.state_changes.queue import put, shrink
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChange, StateChangeRequest
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.znode_tree import ZnodeTree

T = TypeVar("T")

ME = 5


@dataclass
class TreeExecution:
    tree: ZnodeTree = field(default_factory=ZnodeTree)
    meanwhile: list[Callable[[], None]] = field(default_factory=list)
    """Actions of other processes, one before each of the next steps."""

    async def run(self, steps: Steps[T]) -> T:
        await asyncio.sleep(0)
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return self.tree.run(steps)


@dataclass
class FakeAgent:
    partition: TopicPartition
    done: list[str]
    is_stopped: bool = False
    leads: bool = False

    def next_tick(self) -> None:
        return None

    def start(self, now: float) -> Steps[None]:
        self.done.append(f"start {self.partition}")
        yield from ()

    def close(self, now: float) -> Steps[None]:
        self.done.append(f"close {self.partition}")
        self.is_stopped = True
        yield from ()


class World:
    def __init__(self) -> None:
        self.execution = TreeExecution()
        self.tree = self.execution.tree
        for root in znodes.ROOTS:
            if not self.tree.exists(root):
                self.tree.create(root)
        self.monitor = StateChangeMonitor(ME)
        self.done: list[str] = []
        self.looked = 0
        execution = cast("Execution", self.execution)
        self.driver = ReplicaDriver(
            execution, lambda at: cast("ReplicaAgent", FakeAgent(at, self.done)), lambda at, does: None
        )
        self.queue = QueueListener(execution, self.driver, self.monitor, self._look_again)
        self.changed: list[TopicPartition] = []
        self.reassigned = ReassignedListener(execution, self.changed.append)

    async def _look_again(self) -> None:
        self.looked += 1

    def put(self, change: StateChange, *partitions: TopicPartition) -> None:
        for at in partitions:
            self.tree.run(put(StateChangeRequest(change, at, -1, -1), ME, 1000, self.monitor))

    def fire(self) -> None:
        """Dispatch the watch events."""
        fired, self.tree.fired = self.tree.fired, []
        for path in fired:
            if path == znodes.state(ME):
                self.queue.changed()
            else:
                self.reassigned.znode_changed(path)

    def make(self, at: TopicPartition, data: bytes, of: Callable[[TopicPartition], str] = znodes.replicas) -> None:
        self.tree.create(of(at), data)


def at(topic: str, partition: int) -> TopicPartition:
    return TopicPartition(topic, partition)


async def settle() -> None:
    for _ in range(40):
        await asyncio.sleep(0)


def test_what_zookeeper_gives_to_a_broker_is_what_the_assignment_or_a_reassignment_names() -> None:
    world = World()
    world.make(at("t", 0), b"[4,5]")
    world.make(at("t", 1), b"[4,6]")
    world.make(at("u", 3), b"[4,6]")
    world.make(at("u", 3), b"[6,5]", znodes.reassigned)
    world.make(at("new", 0), b"[5]", znodes.reassigned)
    world.make(at("gone", 0), b"[]", znodes.reassigned)
    found = world.tree.run(read_assigned_replicas(ME))
    assert found.own == {at("t", 0), at("u", 3), at("new", 0)}
    assert found.unknown == frozenset()


@pytest.mark.requirement("DLD-25")
def test_an_assignment_that_cannot_be_read_leaves_open_whose_the_replicas_are() -> None:
    world = World()
    world.make(at("t", 0), b"[5")
    world.make(at("t", 1), b"[5")
    world.make(at("t", 1), b"[5]", znodes.reassigned)
    found = world.tree.run(read_assigned_replicas(ME))
    assert found.own == {at("t", 1)}
    assert found.unknown == {at("t", 0)}


@pytest.mark.requirement("LD-24")
def test_the_queue_of_a_broker_is_made_once_and_kept() -> None:
    world = World()
    world.tree.run(make_queue(ME))
    world.put(StateChange.CLOSE_REPLICA, at("t", 0))
    world.tree.run(make_queue(ME))
    assert len(world.tree.names(znodes.state(ME))) == 1


@pytest.mark.requirement("LD-25", "LD-32")
async def test_a_queue_is_drained_in_its_order_and_empty_then() -> None:
    world = World()
    world.tree.run(make_queue(ME))
    world.put(StateChange.START_REPLICA, at("t", 0))
    world.put(StateChange.CLOSE_REPLICA, at("t", 0))
    world.put(StateChange.START_REPLICA, at("t", 0), at("u", 1))
    world.tree.create(znodes.request(ME, "request-9999999999"), b"nonsense")
    await world.queue.drain()
    assert [each for each in world.done if "t-0" in each] == ["start t-0", "close t-0", "start t-0"]
    assert "start u-1" in world.done
    assert world.tree.names(znodes.state(ME)) == []
    assert world.queue.length == 0


@pytest.mark.requirement("LD-21")
async def test_a_queue_is_listened_to_from_the_first_read_on() -> None:
    world = World()
    world.tree.run(make_queue(ME))
    await world.queue.drain()
    listening = asyncio.create_task(world.queue.run())
    world.put(StateChange.START_REPLICA, at("t", 0))
    world.fire()
    await settle()
    world.fire()
    world.put(StateChange.CLOSE_REPLICA, at("t", 0))
    world.fire()
    await settle()
    assert world.done == ["start t-0", "close t-0"]
    assert world.looked == 0
    listening.cancel()


@pytest.mark.requirement("DLD-14")
async def test_a_broker_whose_queue_was_shrunk_looks_again_what_is_assigned_to_it() -> None:
    world = World()
    world.tree.run(make_queue(ME))
    await world.queue.drain()
    listening = asyncio.create_task(world.queue.run())
    world.put(StateChange.START_REPLICA, at("t", 0))
    world.put(StateChange.CLOSE_REPLICA, at("u", 0))
    assert world.tree.run(shrink(ME)) == 1
    world.fire()
    await settle()
    assert world.done == ["close u-0"]
    assert world.looked == 1
    listening.cancel()


@pytest.mark.requirement("LD-19")
async def test_only_a_leader_listens_to_reassignments_and_only_of_its_topics() -> None:
    world = World()
    world.make(at("t", 0), b"[5]", znodes.reassigned)
    world.make(at("other", 0), b"[5]", znodes.reassigned)
    listening = asyncio.create_task(world.reassigned.run())
    await settle()
    assert not world.tree.watched(znodes.REASSIGNED)
    world.reassigned.leads(at("t", 0), True)
    await settle()
    assert world.tree.watched(znodes.REASSIGNED)
    assert world.tree.watched(znodes.reassigned_topic("t"))
    assert not world.tree.watched(znodes.reassigned_topic("other"))
    assert world.changed == [at("t", 0)]
    world.reassigned.leads(at("t", 0), False)
    world.make(at("t", 1), b"[5]", znodes.reassigned)
    world.fire()
    await settle()
    assert not world.tree.watched(znodes.reassigned_topic("t"))
    listening.cancel()


async def test_a_leader_is_notified_when_its_reassignment_comes_and_goes() -> None:
    world = World()
    listening = asyncio.create_task(world.reassigned.run())
    world.reassigned.leads(at("t", 0), True)
    world.reassigned.leads(at("t", 1), True)
    await settle()
    happenings: list[Callable[[], None]] = [
        lambda: world.make(at("t", 0), b"[6]", znodes.reassigned),
        lambda: world.make(at("t", 1), b"[6]", znodes.reassigned),
        lambda: world.tree.delete(znodes.reassigned(at("t", 0))),
        lambda: world.tree.delete(znodes.reassigned(at("t", 1))),
    ]
    for happens in happenings:
        world.changed.clear()
        happens()
        world.fire()
        await settle()
        assert len(world.changed) == 1
    world.tree.delete(znodes.reassigned_topic("t"))
    world.fire()
    await settle()
    world.changed.clear()
    world.make(at("t", 1), b"[6]", znodes.reassigned)
    world.fire()
    await settle()
    assert world.changed == [at("t", 1)]
    listening.cancel()


@pytest.mark.requirement("LD-19", "LD-37", "LD-65")
async def test_a_topic_that_went_before_it_was_looked_at_and_came_again_is_listened_to() -> None:
    world = World()
    world.make(at("t", 0), b"[6]", znodes.reassigned)

    def goes() -> None:
        world.tree.delete(znodes.reassigned(at("t", 0)))
        world.tree.delete(znodes.reassigned_topic("t"))

    world.execution.meanwhile = [lambda: None, goes]
    listening = asyncio.create_task(world.reassigned.run())
    world.reassigned.leads(at("t", 0), True)
    await settle()
    world.make(at("t", 0), b"[7]", znodes.reassigned)
    world.fire()
    await settle()
    assert world.changed == [at("t", 0)]
    assert world.tree.watched(znodes.reassigned_topic("t"))
    listening.cancel()
