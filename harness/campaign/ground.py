"""The cluster that a random plan breaks: who is there, what is stored where, and how much of it may be away.

How much may be away (KIP-631 and Kafka's replication alike):

- Of the controllers, or of ZooKeeper's servers, a minority.
- Of the replicas of a partition as many as leave `min.insync.replicas` of them.

A plan that breaks more at a time claims nothing about progress, only that nothing is lost.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from faults.capabilities import Capability
from harness.plan.model import (
    ConsumerSpec,
    NodeSpec,
    ProducerSpec,
    Timing,
    TopicSpec,
    Topology,
    WorkloadSpec,
)
from harness.targets.target import Dialect, TargetFile

MIN_ISR = "min.insync.replicas"
FIRST_BROKER = 4
"""Controllers and ZooKeeper's servers have the ids below."""
DUPLICATE_INDEX = 10
"""Added to the index of a broker for its duplicate's own addresses."""

STRETCH = {"apache-kafka": 2, "apache-kafka-zk": 2}
"""A JVM that shares two cores with a dozen others pauses longer than a process of the reference cluster."""

LEVELS = {Dialect.LEADER_DRIVEN: ("plain", "balancing")}
"""Those that plans draw from, where they are not all: the others are made for one story."""


@dataclass(frozen=True)
class Ground:
    """A drawn cluster, before anything is broken."""

    target: TargetFile
    topology: Topology
    topics: tuple[TopicSpec, ...]
    workload: WorkloadSpec
    timing: Timing
    level: str | None
    possible: frozenset[Capability]
    """What target, backend and machine can do."""

    @cached_property
    def brokers(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.topology.nodes if "broker" in node.roles and node.duplicate_of is None)

    @cached_property
    def quorum(self) -> tuple[str, ...]:
        """Whose majority decides: the controllers, or ZooKeeper's servers."""
        role = "zookeeper" if self.around_zookeeper else "controller"
        return tuple(node.name for node in self.topology.nodes if role in node.roles)

    @cached_property
    def duplicate(self) -> NodeSpec | None:
        return next((node for node in self.topology.nodes if node.duplicate_of is not None), None)

    @cached_property
    def partitions(self) -> tuple[str, ...]:
        return tuple(f"{topic.name}-{number}" for topic in self.topics for number in range(len(topic.assignments)))

    @property
    def around_zookeeper(self) -> bool:
        return self.target.dialect.around_zookeeper

    @property
    def quorum_role(self) -> str:
        """All of them, as plans refer to them."""
        return "zookeeper" if self.around_zookeeper else "controllers"

    @property
    def broker_is_controller(self) -> bool:
        """Is `active-controller` one of the brokers?"""
        return self.target.dialect is Dialect.ZOOKEEPER

    @property
    def spare_brokers(self) -> int:
        """So many brokers may be away at a time, whichever they are."""
        return min(len(each) - int(topic.config[MIN_ISR]) for topic in self.topics for each in topic.assignments)

    @property
    def spare_quorum(self) -> int:
        return (len(self.quorum) - 1) // 2

    @property
    def fewest_replicas(self) -> int:
        return min(len(each) for topic in self.topics for each in topic.assignments)

    def can(self, capability: Capability) -> bool:
        return capability in self.possible


def draw_ground(rng: random.Random, target: TargetFile, possible: frozenset[Capability], *, twice: bool) -> Ground:
    """`twice`: with a second process for the id of one of the brokers."""
    ids = tuple(range(FIRST_BROKER, FIRST_BROKER + rng.choice((3, 3, 4))))
    topics = _topics(rng, ids)
    levels = LEVELS.get(target.dialect, tuple(target.levels))
    return Ground(
        target=target,
        topology=_topology(rng, target.dialect, ids, twice),
        topics=topics,
        workload=_workload(rng, topics, may_lose=any(each.id.startswith("LF-") for each in target.differences)),
        timing=_timing(rng, target),
        level=rng.choice(levels) if levels else None,
        possible=possible,
    )


def _topology(rng: random.Random, dialect: Dialect, ids: Sequence[int], twice: bool) -> Topology:
    if dialect.around_zookeeper:
        servers = rng.choice((1, 1, 1, 2, 3, 3))
        quorum = [
            NodeSpec(name=f"zk-{each}", id=each, index=each, roles=("zookeeper",)) for each in range(1, servers + 1)
        ]
    else:
        quorum = [NodeSpec(name=f"node-{each}", id=each, index=each, roles=("controller",)) for each in (1, 2, 3)]
    brokers = [NodeSpec(name=f"node-{each}", id=each, index=each, roles=("broker",)) for each in ids]
    if not twice:
        return Topology(nodes=(*quorum, *brokers))
    elder = rng.choice(ids)
    newcomer = NodeSpec(
        name=f"node-{elder}b",
        id=elder,
        index=DUPLICATE_INDEX + elder,
        roles=("broker",),
        start="later",
        duplicate_of=f"node-{elder}",
        directory=rng.choice(("empty", "cloned")),
    )
    return Topology(nodes=(*quorum, *brokers, newcomer))


def _topics(rng: random.Random, ids: Sequence[int]) -> tuple[TopicSpec, ...]:
    """Three replicas of which two have to be in sync, most of the time."""
    topics = []
    for name in ("t", "u")[: rng.choice((1, 1, 2))]:
        replicas, min_isr = rng.choices(((3, 2), (3, 1), (3, 3), (2, 1)), weights=(12, 3, 1, 2))[0]
        assignments = tuple(tuple(rng.sample(ids, replicas)) for _ in range(rng.choice((1, 1, 2, 3))))
        topics.append(TopicSpec(name=name, assignments=assignments, config={MIN_ISR: str(min_isr)}))
    return tuple(topics)


def _workload(rng: random.Random, topics: Sequence[TopicSpec], *, may_lose: bool) -> WorkloadSpec:
    """One producer at acks=all for each topic, and now and then one that waits for the leader only.

    `may_lose`: without idempotence. A producer whose last sequence number is gone from the log is refused for good
    (45), which is the loss once more and no trouble of the run.
    """
    producers = [
        ProducerSpec(
            name=f"p-{topic.name}",
            topic=topic.name,
            idempotent=not may_lose and rng.random() < 0.75,
            rate=rng.choice((50, 100, 200)),
            size=rng.choice((60, 100, 1000)),
        )
        for topic in topics
    ]
    if rng.random() < 0.3:
        producers.append(ProducerSpec(name="p-one", topic=rng.choice(topics).name, acks=1, idempotent=False, rate=50))
    consumers = [ConsumerSpec(name=f"c-{topic.name}", topic=topic.name) for topic in topics if rng.random() < 0.7]
    return WorkloadSpec(producers=tuple(producers), consumers=tuple(consumers))


def _timing(rng: random.Random, target: TargetFile) -> Timing:
    """Sessions follow the lease; a broker waits a second longer than the controller before it fences itself."""
    stretch = STRETCH.get(target.name, 1)
    lease, lag = stretch * rng.choice((1500, 2000, 3000)), stretch * rng.choice((1500, 3000))
    usual = Timing()
    leader_driven = target.dialect is Dialect.LEADER_DRIVEN
    return Timing(
        lease_ms=lease,
        session_ms=lease,
        fence_ms=lease + stretch * 1000,
        lag_ms=lag,
        fetch_ms=stretch * usual.fetch_ms,
        request_ms=stretch * usual.request_ms,
        preferred_ms=1000 if leader_driven else stretch * usual.preferred_ms,
        election_ms=1500 if leader_driven else stretch * usual.election_ms,
    )
