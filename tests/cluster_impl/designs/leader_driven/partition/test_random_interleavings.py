"""Brokers over one tree, one random operation at a time.

Meanwhile they crash, lose their sessions or are slow, and topics are created, moved and deleted. `Watcher` checks after
each operation; in the end all is in its final state.
"""

from __future__ import annotations

import random

import pytest

from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from tests.cluster_impl.designs.leader_driven.memory_cluster import MemoryCluster

BROKERS = (4, 5, 6, 7)


class RandomEvents:
    """Random events of a cluster."""

    def __init__(self, seed: int, *, capacity: int) -> None:
        self.random = random.Random(seed)
        self.cluster = MemoryCluster(
            *BROKERS, seed=seed, queue_capacity=capacity, auto_leader_rebalance=self.random.random() < 0.5
        )
        self.slow: dict[int, float] = {}
        """The time until which each slow broker does nothing."""
        self.topics = 0

    def step(self) -> None:
        cluster, chance = self.cluster, self.random.random()
        if chance < 0.002:
            self._misfortune()
        elif chance < 0.004:
            self._administer()
        elif chance < 0.08:
            cluster.now += self.random.choice((0.01, 0.05, 0.1, 0.4))
        else:
            self._work()

    def _work(self) -> None:
        cluster = self.cluster
        awake = [each for each in cluster.brokers.values() if self.slow.get(each.id, 0.0) <= cluster.now]
        ready = [task for task in cluster.admin if task.is_ready]
        if ready and self.random.random() < 0.2:
            self.random.choice(ready).step(lambda operation: cluster.execute(operation, 0))
            cluster.admin = [each for each in cluster.admin if not each.is_over]
            return
        if not awake:
            return
        broker = self.random.choice(awake)
        tasks = [task for task in broker.tasks if task.is_ready and task.stalled_until <= cluster.now]
        if not cluster.is_alive(broker.session) and self.random.random() < 0.1:
            broker.lose_session()
        elif broker.fired and self.random.random() < 0.3:
            broker.notify()
        elif tasks and self.random.random() < 0.8:
            task = self.random.choice(tasks)
            if self.random.random() < 0.03:
                task.stalled_until = cluster.now + self.random.choice((0.2, 0.8))
            else:
                broker.step(task)
        else:
            broker.tick()
            following = broker.data_plane.following()
            led = [of for of in broker.data_plane.replicas if of not in following]
            if following:
                self._fetch(broker.id, self.random.choice(following))
            if led:
                of = self.random.choice(led)
                broker.consider_isr(of)
                if self.random.random() < 0.3:
                    broker.data_plane.append(of)
            if self.random.random() < 0.1:
                broker.data_plane.checkpoint()

    def _fetch(self, broker_id: int, of: TopicPartition) -> None:
        broker = self.cluster.brokers[broker_id]
        if self.slow.get(broker.data_plane.replicas[of].leader, 0.0) <= self.cluster.now:
            self.cluster.fetch(broker, of)

    def _misfortune(self) -> None:
        cluster = self.cluster
        broker_id = self.random.choice(BROKERS)
        if broker_id not in cluster.brokers:
            cluster.start(broker_id)
            return
        match self.random.randrange(6):
            case 0 if len(cluster.brokers) > 2:
                cluster.kill(broker_id, expire=self.random.random() < 0.5)
            case 1:
                cluster.expire(broker_id)
            case 2 | 3:
                self.slow[broker_id] = cluster.now + self.random.choice((0.5, 2.0, 6.0))
            case 4:
                self.slow[broker_id] = cluster.now + 4.0
                cluster.expire(broker_id)
            case _:
                cluster.expire_dead()

    def _administer(self) -> None:
        cluster = self.cluster
        partitions = [of for of in cluster.partitions() if of in cluster.wanted and cluster.is_settled(of)]
        busy = bool(cluster.admin)
        match self.random.randrange(4):
            case 0 | 1 if partitions:
                of = self.random.choice(partitions)
                target = self.random.sample(BROKERS, self.random.choice((1, 2, 3)))
                cluster.reassign(str(of), *target)
            case 2 if partitions and not busy and len(cluster.tree.names(znodes.TOPICS)) > 1:
                cluster.delete_topic(self.random.choice(partitions).topic)
            case 3 if not busy and len(cluster.tree.names(znodes.TOPICS)) < 3:
                self.topics += 1
                layout = [self.random.sample(BROKERS, 3) for _ in range(self.random.choice((1, 2)))]
                cluster.create_topic(f"t{self.topics % 4}", *layout)

    def come_to_rest(self) -> None:
        cluster = self.cluster
        self.slow.clear()
        cluster.expire_dead()
        for broker_id in BROKERS:
            if broker_id not in cluster.brokers:
                cluster.start(broker_id)
        until = cluster.now + 60.0
        while not self._is_at_rest() and cluster.now < until:
            cluster.pass_time(0.5)
        cluster.pass_time(3.0)
        cluster.watcher.at_rest()
        assert all(task.is_over for task in cluster.admin), "an administrator still waits"

    def _is_at_rest(self) -> bool:
        try:
            self.cluster.watcher.at_rest()
        except AssertionError:
            return False
        return all(task.is_over for task in self.cluster.admin)


def play(seed: int, steps: int, capacity: int) -> RandomEvents:
    events = RandomEvents(seed, capacity=capacity)
    events.cluster.create_topic("t0", [4, 5, 6])
    for _ in range(steps):
        events.step()
    events.come_to_rest()
    return events


@pytest.mark.requirement("LD-01", "LD-03", "LD-28", "LD-36", "LD-40", "DLD-16", "DLD-26")
@pytest.mark.parametrize("capacity", [100, 3])
@pytest.mark.parametrize("seed", range(15))
def test_whatever_happens_the_rules_hold_and_everything_comes_to_rest(seed: int, capacity: int) -> None:
    play(seed, 4000, capacity)
