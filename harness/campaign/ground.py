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

CLOCKS, DISKS, LOG_DIRS = 0.2, 0.2, 0.3
"""The part of plans whose brokers have a clock of their own, disks that can be broken, several log directories."""

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
    def holders(self) -> tuple[str, ...]:
        """The brokers that hold a partition."""
        ids = {replica for topic in self.topics for replicas in topic.assignments for replica in replicas}
        return tuple(node.name for node in self.topology.nodes if node.name in self.brokers and node.id in ids)

    @cached_property
    def several_dirs(self) -> bool:
        return any(node.log_dirs > 1 for node in self.topology.nodes)

    @cached_property
    def breakable(self) -> bool:
        """Can single operations on the brokers' disks be made to fail?"""
        return any(node.disk == "breakable" for node in self.topology.nodes)

    @cached_property
    def own_clocks(self) -> bool:
        """Have brokers, and controllers, a clock of their own?"""
        return any(node.clock == "own" for node in self.topology.nodes)

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
        topology=Topology(nodes=_nodes(rng, target.dialect, ids, possible, twice)),
        topics=topics,
        workload=_workload(rng, topics, may_lose=any(each.id.startswith("LF-") for each in target.differences)),
        timing=_timing(rng, target),
        level=rng.choice(levels) if levels else None,
        possible=possible,
    )


def _nodes(
    rng: random.Random, dialect: Dialect, ids: Sequence[int], possible: frozenset[Capability], twice: bool
) -> tuple[NodeSpec, ...]:
    """What can be broken besides processes and links has to be there from the start, and costs: some plans have it."""
    clock = "own" if Capability.CLOCK in possible and rng.random() < CLOCKS else "machine"
    disk = "breakable" if Capability.DISKS in possible and rng.random() < DISKS else "plain"
    log_dirs = 2 if Capability.LOG_DIRS in possible and rng.random() < LOG_DIRS else 1
    if dialect.around_zookeeper:
        servers = range(1, rng.choice((1, 1, 1, 2, 3, 3)) + 1)
        quorum = [NodeSpec(name=f"zk-{each}", id=each, index=each, roles=("zookeeper",)) for each in servers]
    else:
        quorum = [_node(each, "controller", clock=clock) for each in (1, 2, 3)]
    brokers = [_node(each, "broker", clock=clock, disk=disk, log_dirs=log_dirs) for each in ids]
    if not twice:
        return (*quorum, *brokers)
    elder = rng.choice(brokers)
    directory = rng.choice(("empty", "cloned"))
    newcomer = {
        "name": f"{elder.name}b",
        "index": DUPLICATE_INDEX + elder.index,
        "start": "later",
        "duplicate_of": elder.name,
        "directory": directory,
        "disk": "plain",
    }
    return (*quorum, *brokers, elder.model_copy(update=newcomer))


def _node(id: int, role: str, **more: object) -> NodeSpec:
    return NodeSpec.model_validate({"name": f"node-{id}", "id": id, "index": id, "roles": (role,), **more})


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
    stretch = target.stretch
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
