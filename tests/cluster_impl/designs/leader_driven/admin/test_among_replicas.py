"""The commands among the real cores of brokers, one random operation at a time.

Meanwhile brokers crash, lose their sessions or are slow, and commands are killed. `Watcher` checks after each
operation; in the end, after one more deletion of what was interrupted, all is in its final state and nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from fencepost.cluster_impl.coordination.steps import Exists, Operation, Outcome
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.creating import (
    MorePartitions,
    NewTopic,
    create_partitions,
    create_topic,
)
from fencepost.cluster_impl.designs.leader_driven.admin.deleting import delete_partition, delete_topic
from fencepost.cluster_impl.designs.leader_driven.admin.lock import locked
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Await, Command, Pause, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import StoredTopic, read_topic
from fencepost.cluster_impl.designs.leader_driven.admin.reassigning import reassign
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from tests.cluster_impl.designs.leader_driven.memory_broker import Task, Work
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster
from tests.cluster_impl.designs.leader_driven.partition.test_random_interleavings import BROKERS, RandomEvents

TOPICS = ("t", "u")

A_BROKER_STARTS_WHILE_AN_ATTEMPT_IS_CLEANED_UP = 167


class CommandTask(Task):
    """A command in a session of its own."""

    def __init__(self, cluster: MemoryCluster, procedure: Procedure[object]) -> None:
        self._cluster = cluster
        self.session = cluster.new_session()
        super().__init__(_work(cluster, procedure), self._over)

    def step(self, execute: Callable[[Operation], Outcome]) -> None:
        super().step(lambda operation: self._cluster.execute(operation, self.session))

    def kill(self) -> None:
        self.close()
        self._over()

    def _over(self) -> None:
        self._cluster.tree.end_session(self.session)


def _work(cluster: MemoryCluster, procedure: Procedure[object]) -> Work[None]:
    """Run a procedure as the cluster in memory runs all work."""
    try:
        asked = next(procedure)
        while True:
            match asked:
                case Await(paths, until):
                    yield partial(_is_over, cluster, paths, until)
                    asked = procedure.send((yield [Exists(path) for path in paths]) if paths else ())
                case Pause(until):
                    yield partial(_is_over, cluster, ("/",), until)
                    asked = procedure.send(())
                case _:
                    asked = procedure.send((yield asked))
    except (StopIteration, RequestError):
        return
    finally:
        procedure.close()


def _is_over(cluster: MemoryCluster, paths: Sequence[str], until: float) -> bool:
    return cluster.now >= until or not any(path == "/" or cluster.tree.exists(path) for path in paths)


class RandomCommandEvents(RandomEvents):
    def __init__(self, seed: int, *, capacity: int = 100) -> None:
        super().__init__(seed, capacity=capacity)
        self.command = Command(StateChangeMonitor(9), self._now, timeout_s=8.0, queue_capacity=capacity, side_by_side=2)

    def _now(self) -> float:
        return self.cluster.now

    def run(self, topic: str, procedure: Procedure[object]) -> None:
        self.cluster.admin.append(CommandTask(self.cluster, locked(self.command, topic, procedure)))

    def step(self) -> None:
        chance = self.random.random()
        if chance < 0.004 and len(self.cluster.admin) < 3:
            self._command()
        elif chance < 0.006 and self.cluster.admin:
            self._kill_command()
        super().step()

    def _administer(self) -> None:
        """Administer by commands."""

    def _kill_command(self) -> None:
        task = self.random.choice(self.cluster.admin)
        assert isinstance(task, CommandTask)
        task.kill()
        self.cluster.admin.remove(task)

    def _command(self) -> None:
        command, choose = self.command, self.random
        topic = choose.choice(TOPICS)
        live = [broker for broker in BROKERS if self.cluster.tree.exists(znodes.broker(broker))] or list(BROKERS)
        replicas = [choose.sample(live, min(len(live), 2)) for _ in range(choose.choice((1, 3)))]
        match choose.randrange(8):
            case 0 | 1 | 2:
                self.run(topic, create_topic(command, NewTopic(topic, assignment=replicas)))
            case 3:
                self.run(topic, create_partitions(command, MorePartitions(topic, choose.randint(1, 4))))
            case 4:
                self.run(topic, delete_topic(command, topic))
            case 5:
                self.run(topic, delete_partition(command, topic, choose.randrange(4)))
            case _:
                moves = {choose.randrange(3): choose.sample(live, min(len(live), choose.choice((1, 2, 3))))}
                self.run(topic, reassign(command, topic, moves))

    def come_to_rest(self) -> None:
        cluster = self.cluster
        self.slow.clear()
        cluster.expire_dead()
        for broker_id in BROKERS:
            if broker_id not in cluster.brokers:
                cluster.start(broker_id)
        cluster.until(self._no_command, within=120.0)
        for topic in TOPICS:
            if not self._is_whole(cluster.tree.run(read_topic(topic))):
                self.run(topic, delete_topic(self.command, topic))
        cluster.until(self._no_command, within=120.0)
        super().come_to_rest()
        for topic in TOPICS:
            found = cluster.tree.run(read_topic(topic))
            assert self._is_whole(found), f"{topic} is left as {found}"
            assert not any(each.marker for each in found.partitions.values()), f"{topic} is left as {found}"
        assert cluster.tree.names(znodes.ADMIN) == []

    def _no_command(self) -> bool:
        return all(task.is_over for task in self.cluster.admin)

    @staticmethod
    def _is_whole(topic: StoredTopic) -> bool:
        """Return True if the topic is settled or absent. A reassignment under way completes by itself."""
        indexes = sorted(topic.live)
        is_there = topic.topic_id is not None and indexes == list(range(len(indexes))) != []
        is_going = any(each.is_being_deleted for each in topic.partitions.values())
        is_absent = topic.topic_id is None and not topic.partitions
        return is_absent or (is_there and not is_going and topic.live == topic.partitions)


@pytest.mark.requirement("LD-56", "LD-64", "DLD-12", "DLD-18", "DLD-29", "DLD-50")
@pytest.mark.parametrize("capacity", [100, 4])
@pytest.mark.parametrize("seed", [*range(8), A_BROKER_STARTS_WHILE_AN_ATTEMPT_IS_CLEANED_UP])
def test_commands_that_are_killed_among_brokers_that_fail_leave_nothing_behind(seed: int, capacity: int) -> None:
    events = RandomCommandEvents(seed, capacity=capacity)
    for _ in range(3000):
        events.step()
    events.come_to_rest()
