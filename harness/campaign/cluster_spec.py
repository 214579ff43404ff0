"""The cluster that a random plan breaks: its nodes, its topics, and how much of it may be away.

How much may be away (KIP-631 and Kafka's replication alike):

- a minority of the controllers, or of ZooKeeper's servers;
- as many replicas of a partition as leave `min.insync.replicas` of them.

A plan that breaks more at a time claims nothing about progress, only that nothing is lost.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from fencepost.faults.capabilities import Capability
from fencepost.harness.plan import topologies
from fencepost.harness.plan.conditions.condition import LIVENESS_TIMEOUT_MS
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import (
    NodeSettings,
    NodeSpec,
    Plan,
    ProducerSpec,
    Timing,
    TopicSpec,
    Topology,
    WorkloadSpec,
)
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.upgrade_rules import RELEASES

MIN_ISR = "min.insync.replicas"
NAMES = ("t", "u")
"""The names of the topics of a plan on a fresh cluster."""
DIRECTORIES: tuple[Literal["empty", "cloned"], ...] = ("empty", "cloned")
"""The contents of a duplicate's directory when it starts."""

CLOCKS, DISKS, LOG_DIRS = 0.2, 0.2, 0.3
"""The fractions of plans whose brokers have a clock of their own, disks that can be broken, several log directories."""

RACKS = 0.4
"""The fraction of plans whose brokers are in racks."""

LEVELS = {Dialect.LEADER_DRIVEN: ("plain", "balancing")}
"""The protocol levels of plans, where these are not all of the target's: the others are made for one scenario."""

CREATION_TIMEOUT_MS = 30_000
"""The timeout of commands of administrators in the reference cluster of the v2 design."""


@dataclass(frozen=True)
class ClusterSpec:
    """A random cluster, before anything is broken. Generators of faults see it as a `BreakableCluster`."""

    target: TargetFile
    topology: Topology
    topics: tuple[TopicSpec, ...]
    workload: WorkloadSpec
    timing: Timing
    level: str | None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of all brokers."""
    settings_of_all: Mapping[str, str] = field(default_factory=dict)
    """Settings of all brokers and controllers."""
    settings_of_controllers: Mapping[str, str] = field(default_factory=dict)
    moving: frozenset[str] = frozenset()
    """Brokers of which it is not known that they hold what `topics` says: a reassignment may not have been served."""

    without_vote: frozenset[str] = frozenset()
    """Controllers of which it is not known that they have a vote."""
    vote_unknown: frozenset[str] = frozenset()
    """Those of them of which it is not known that they have none."""
    placing_ms: int = 0
    """The time that all partitions of a huge topic take more than those of a small one."""

    @property
    def liveness_timeout_ms(self) -> int:
        """Return the time in which this target does what it owes."""
        return LIVENESS_TIMEOUT_MS * self.target.timeout_factor + self.placing_ms

    @property
    def creation_timeout_ms(self) -> int:
        """Return the time for which a creation of a topic may wait for a broker that has died.

        Without controllers each replica takes a request of its own, and the creation waits out its timeout for one that
        does not; then it can be tried again (v2 design, Create topic). A controller chooses live brokers at once.
        """
        return 0 if self.target.dialect.has_controllers else CREATION_TIMEOUT_MS

    @property
    def target_name(self) -> str:
        return self.target.name

    @cached_property
    def brokers(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.topology.nodes if "broker" in node.roles and node.is_original)

    @cached_property
    def quorum(self) -> tuple[str, ...]:
        role = "zookeeper" if self.uses_zookeeper else "controller"
        return tuple(node.name for node in self.topology.nodes if role in node.roles)

    @cached_property
    def holders(self) -> tuple[str, ...]:
        ids = {replica for topic in self.topics for replicas in topic.assignments for replica in replicas}
        known = (node for node in self.topology.nodes if node.name in self.brokers and node.name not in self.moving)
        return tuple(node.name for node in known if node.id in ids)

    def id_of(self, broker: str) -> int:
        """Return the id of a broker."""
        return next(node.id for node in self.topology.nodes if node.name == broker)

    def id_of_controller(self, node: str) -> int:
        """Return the id of a controller."""
        return next(each.controller_id or each.id for each in self.topology.nodes if each.name == node)

    def name_of(self, id: int) -> str:
        """Return the broker of an id."""
        return next(name for name in self.brokers if self.id_of(name) == id)

    def with_topic(self, changed: TopicSpec, moving: frozenset[str] = frozenset()) -> ClusterSpec:
        """Return the cluster with a topic of its own changed."""
        topics = tuple(changed if topic.name == changed.name else topic for topic in self.topics)
        return replace(self, topics=topics, moving=self.moving | moving)

    @cached_property
    def several_dirs(self) -> bool:
        return any(node.log_dirs > 1 for node in self.topology.nodes)

    @cached_property
    def breakable(self) -> bool:
        return any(node.disk == "breakable" for node in self.topology.nodes)

    @cached_property
    def own_clocks(self) -> bool:
        return any(node.clock == "own" for node in self.topology.nodes)

    @cached_property
    def duplicate(self) -> NodeSpec | None:
        return next((node for node in self.topology.nodes if node.duplicate_of is not None), None)

    @cached_property
    def partitions(self) -> tuple[str, ...]:
        return tuple(f"{topic.name}-{number}" for topic in self.topics for number in range(len(topic.assignments)))

    def held_by(self, broker: str) -> tuple[str, ...]:
        id = next(node.id for node in self.topology.nodes if node.name == broker)
        return tuple(
            f"{topic.name}-{number}"
            for topic in self.topics
            for number, replicas in enumerate(topic.assignments)
            if id in replicas
        )

    def replicas(self, partition: str) -> int:
        name, _, number = partition.rpartition("-")
        return next(len(topic.assignments[int(number)]) for topic in self.topics if topic.name == name)

    @property
    def clients_read(self) -> bool:
        return any(consumer.site == "main" for consumer in self.workload.consumers)

    @property
    def uses_zookeeper(self) -> bool:
        return self.target.dialect.uses_zookeeper

    @property
    def quorum_role(self) -> str:
        return "zookeeper" if self.uses_zookeeper else "controllers"

    @property
    def broker_is_controller(self) -> bool:
        return self.target.dialect is Dialect.ZOOKEEPER

    @property
    def administered_by_znodes(self) -> bool:
        """True if an administrator writes znodes in place of most requests."""
        return "zk-controller" in (self.target.name, self.target.extends)

    @property
    def only_controller_administers(self) -> bool:
        """True if requests of an administrator are not forwarded: any broker but the controller refuses them."""
        return self.target.dialect is Dialect.ZOOKEEPER and not self.administered_by_znodes

    @property
    def unheard_broker_stops_serving(self) -> bool:
        return self.target.dialect is Dialect.KIP_631

    @property
    def lease_ms(self) -> int:
        return self.timing.lease_ms

    @property
    def spare_brokers(self) -> int:
        """The number of brokers that may be away at a time, whichever they are."""
        if self.target.promises.replication != "isr":
            return len(self.brokers)  # what a broker holds, or a service, is there again when the broker is
        return min(len(each) - int(topic.config.get(MIN_ISR, 1)) for topic in self.topics for each in topic.assignments)

    @property
    def spare_quorum(self) -> int:
        return (len(self.quorum) - len(self.without_vote) - 1) // 2 if self.quorum else 0

    @property
    def outlives_restarts(self) -> bool:
        """True if records outlive a broker that ends on request."""
        return self.target.promises.unpromised("terminate") is None

    @property
    def others_take_over(self) -> bool:
        """True if the work of a broker that is away goes on at others."""
        promises = self.target.promises
        return promises.failover and promises.replication != "none"

    @property
    def fewest_replicas(self) -> int:
        return min(len(each) for topic in self.topics for each in topic.assignments)


def generate_cluster(
    rng: random.Random, target: TargetFile, possible: frozenset[Capability], *, with_duplicate: bool
) -> ClusterSpec:
    """Return a random cluster of three or four brokers, with what `possible` lets plans break.

    `with_duplicate`: with a second process for the id of one of the brokers.
    """
    if target.dialect is Dialect.CLIENTS:
        return _described_cluster(rng, target)
    first = topologies.BROKER_IDS[0]
    ids = tuple(range(first, first + rng.choice((3, 3, 4))))
    topics = _topics(rng, ids)
    old = RELEASES[:1]  # a node that is upgraded speaks as before, until the upgrade is finalized
    levels = old if old[0] in target.levels else LEVELS.get(target.dialect, tuple(target.levels))
    return ClusterSpec(
        target=target,
        topology=Topology(nodes=_nodes(rng, target, ids, possible, with_duplicate)),
        topics=topics,
        workload=_workload(rng, topics),
        timing=_timing(rng, target),
        level=rng.choice(levels) if levels else None,
    )


def _described_cluster(rng: random.Random, target: TargetFile) -> ClusterSpec:
    """Return the cluster of a target that shows no control plane: its brokers and services, with random topics."""
    brokers = topologies.with_front_ends(topologies.brokers(target.brokers.ids), target.brokers.front_ends)
    topics = _described_topics(rng, target)
    return ClusterSpec(
        target=target,
        topology=Topology(nodes=(*topologies.services(target.services), *brokers)),
        topics=topics,
        workload=_workload(rng, topics),
        timing=_timing(rng, target),
        level=None,
    )


def _described_topics(rng: random.Random, target: TargetFile, names: Sequence[str] = NAMES) -> tuple[TopicSpec, ...]:
    ids = target.brokers.ids
    if target.promises.replication == "isr" and len(ids) > 2:
        return _topics(rng, ids, names)
    return tuple(
        TopicSpec(name=name, assignments=tuple((rng.choice(ids),) for _ in range(rng.choice((1, 1, 2, 3)))))
        for name in names[: rng.choice((1, 1, 2))]
    )


def generate_again(rng: random.Random, target: TargetFile, earlier: Sequence[Plan]) -> ClusterSpec:
    """Return the cluster of the plan after these, which all ran on it: their nodes, with topics and clients anew."""
    first = earlier[0]
    ids = [node.id for node in first.topology.nodes if "broker" in node.roles and node.is_original]
    names = [f"{name}{len(earlier) + 1}" for name in NAMES]
    described = target.dialect is Dialect.CLIENTS
    topics = _described_topics(rng, target, names) if described else _topics(rng, ids, names)
    settings = first.settings or NodeSettings()
    return ClusterSpec(
        target=target,
        topology=first.topology,
        topics=topics,
        workload=_workload(rng, topics),
        timing=first.timing,
        level=first.level,
        settings=settings.broker,
        settings_of_all=settings.all,
        settings_of_controllers=settings.controller,
    )


def _nodes(
    rng: random.Random, target: TargetFile, ids: Sequence[int], possible: frozenset[Capability], with_duplicate: bool
) -> tuple[NodeSpec, ...]:
    """Return the nodes. Clocks, disks and directories that can be broken have to be there from the start, and take time
    to set up: some plans have them."""
    clock: Literal["own", "machine"] = "own" if Capability.CLOCK in possible and rng.random() < CLOCKS else "machine"
    breakable = Capability.DISKS in possible and rng.random() < DISKS
    log_dirs = 2 if Capability.LOG_DIRS in possible and rng.random() < LOG_DIRS else 1
    if target.dialect.uses_zookeeper:
        quorum = topologies.zookeeper_servers(rng.choice((1, 1, 1, 2, 3, 3)))
    else:
        quorum = topologies.controllers(clock=clock)
    racks = ("a", "b") if rng.random() < RACKS else (None,)
    disk: Literal["breakable", "plain"] = "breakable" if breakable else "plain"
    brokers = topologies.brokers(ids, clock=clock, disk=disk, log_dirs=log_dirs, racks=racks)
    if not with_duplicate:
        return (*quorum, *brokers)
    original = rng.choice(brokers)
    duplicate = topologies.duplicate_of(original, rng.choice(DIRECTORIES))
    return (*quorum, *brokers, duplicate.model_copy(update={"disk": "plain"}))


def _topics(rng: random.Random, ids: Sequence[int], names: Sequence[str] = NAMES) -> tuple[TopicSpec, ...]:
    """Return one or two topics. Most have three replicas of which two have to be in sync."""
    topics = []
    for name in names[: rng.choice((1, 1, 2))]:
        replicas, min_isr = rng.choices(((3, 2), (3, 1), (3, 3), (2, 1)), weights=(12, 3, 1, 2))[0]
        assignments = tuple(tuple(rng.sample(ids, replicas)) for _ in range(rng.choice((1, 1, 2, 3))))
        topics.append(TopicSpec(name=name, assignments=assignments, config={MIN_ISR: str(min_isr)}))
    return tuple(topics)


def _workload(rng: random.Random, topics: Sequence[TopicSpec]) -> WorkloadSpec:
    """Return one producer at acks=all for each topic. Features add other clients."""
    producers = (
        ProducerSpec(
            name=f"p-{topic.name}",
            topic=topic.name,
            idempotent=False,
            rate=rng.choice((50, 100, 200)),
            size=rng.choice((60, 100, 1000)),
        )
        for topic in topics
    )
    return WorkloadSpec(producers=tuple(producers))


def _timing(rng: random.Random, target: TargetFile) -> Timing:
    """Return random timeouts. Sessions last as long as the lease; a broker waits a second longer than the controller
    before it fences itself."""
    factor = target.timeout_factor
    lease, lag = factor * rng.choice((1500, 2000, 3000)), factor * rng.choice((1500, 3000))
    usual = Timing()
    leader_driven = target.dialect is Dialect.LEADER_DRIVEN
    return Timing(
        lease_ms=lease,
        session_ms=lease,
        fence_ms=lease + factor * 1000,
        lag_ms=lag,
        fetch_ms=factor * usual.fetch_ms,
        request_ms=factor * usual.request_ms,
        preferred_ms=1000 if leader_driven else factor * usual.preferred_ms,
        election_ms=1500 if leader_driven else factor * usual.election_ms,
    )
