"""Every operation with every fault and every role, once, in few plans (`fencepost campaign --pairwise`).

A *round* is a fault that hits a role, and up to `OPERATIONS` operations while it holds; the cluster is whole again
before the next round. Rounds are chosen greedily, so that each legal pair of operation and fault, of operation and
role, and of fault and role is in one (Kuhn, Wallace, Gallo, IEEE TSE 2004). Several rounds form a plan.

A pair of fault and role is legal if the fault can be generated with that role on a cluster of this target.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice

from fencepost.faults.capabilities import Capability
from fencepost.faults.generation import BreakableCluster, GeneratedFault
from fencepost.harness.backends import check_backend
from fencepost.harness.campaign.cluster_spec import ClusterSpec, generate_cluster
from fencepost.harness.campaign.features import FaultMove, draw
from fencepost.harness.campaign.operations.operation import Operation
from fencepost.harness.campaign.planner import (
    LeftOut,
    capabilities_here,
    duplicates,
    features_for,
    finished,
    with_workload,
)
from fencepost.harness.campaign.script import Script
from fencepost.harness.campaign.secured import possible_with
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.registry import load, reference_of

OPERATIONS = 3
"""Operations of a round, at most."""
ROUNDS = 4
"""Rounds of a plan, at most."""
SAMPLES = 150
"""Attempts to generate a fault with a role before the pair counts as impossible."""
TRIES = 50
BROKERS, QUORUM = 4, 3

Pair = frozenset[str]


@dataclass(frozen=True)
class Round:
    """One fault at one role, and the operations while it holds. `cluster` is the index of the cluster that it needs."""

    fault: str
    role: str
    operations: tuple[str, ...]
    cluster: int

    @property
    def pairs(self) -> Iterator[Pair]:
        yield frozenset({self.fault, self.role})
        for each in self.operations:
            yield frozenset({each, self.fault})
            yield frozenset({each, self.role})


@dataclass(frozen=True)
class Pairwise:
    """The rounds for a target, and the plans that they form."""

    file: TargetFile
    reference: str
    seed: int
    faults: Mapping[str, FaultMove]
    operations: Mapping[str, Operation]
    clusters: tuple[ClusterSpec, ...]
    legal: Mapping[tuple[str, str], int]
    """The index of the first cluster on which a fault can hit a role, by fault and role."""
    rounds: tuple[Round, ...]

    @cached_property
    def plans(self) -> tuple[tuple[Round, ...], ...]:
        """The rounds of each plan. A second process is started once in a plan."""
        grouped: list[list[Round]] = []
        for each in self.rounds:
            alone = duplicates(self.faults[each.fault])
            free = (plan for plan in grouped if len(plan) < ROUNDS and plan[0].cluster == each.cluster)
            fitting = next((plan for plan in free if not alone), None)
            grouped += [[each]] if fitting is None else []
            if fitting is not None:
                fitting.append(each)
        return tuple(map(tuple, grouped))

    @property
    def pairs(self) -> frozenset[Pair]:
        """All pairs that are legal."""
        return legal_pairs(self.legal, self.operations)

    @property
    def left_out(self) -> list[LeftOut]:
        """The pairs of fault and role that cannot be."""
        roles = sorted({role for _, role in self.legal})
        found = []
        for fault in self.faults:
            missing = [role for role in roles if (fault, role) not in self.legal]
            if missing:
                found.append(LeftOut(fault, f"it cannot be aimed at: {', '.join(missing)}"))
        return found

    def plan(self, number: int, seed: int) -> Plan:
        """Return the plan of this number, from 1. `seed` is what it is called by."""
        rounds = self.plans[number - 1]
        rng = random.Random(f"fencepost pairwise {self.file.name} {self.seed} {number}")
        features = list(possible_with(features_for(self.file, self.reference, frozenset(Capability)), "plaintext"))
        own = draw(rng, features)
        asked = [self.operations[name] for each in rounds for name in each.operations]
        cluster = with_workload(rng, self.clusters[rounds[0].cluster], [*own, *asked])
        script = Script(rng, cluster, tolerated_only=False)
        script.open()
        titles = [title for each in rounds for title in self._add(script, each)]
        return finished(self.file, self.reference, seed, script, cluster, titles, own)

    def _add(self, script: Script, each: Round) -> Iterator[str]:
        chosen = [self.operations[name] for name in each.operations]
        for operation in chosen:
            operation.prepare(script)
        fault = _aimed(script.rng, self.faults[each.fault], script.cluster, each.role)
        script.add(fault)
        yield fault.title
        for operation in chosen:
            yield next(title for _ in range(TRIES) if (title := operation.add(script)) is not None)
        script.heal_all()
        script.await_whole()


@cache
def pairwise(target: str, backend: str, seed: int) -> Pairwise:
    """Return the plans for `quorum`, or with a version `apache-kafka:4.4.0`. Raise UsageError if there is no such
    target."""
    check_backend(backend)
    file = load(target).file
    return pairwise_for(file, reference_of(target), seed, capabilities_here(file, backend))


def pairwise_for(file: TargetFile, reference: str, seed: int, possible: frozenset[Capability]) -> Pairwise:
    """Return the plans that need only the capabilities in `possible`."""
    features = list(possible_with(features_for(file, reference, possible), "plaintext"))
    faults = {each.name: each for each in features if isinstance(each, FaultMove) and each.weight}
    operations = {
        each.name: each
        for each in features
        if isinstance(each, Operation) and each.weight and not each.of_whole_clusters
    }
    rng = random.Random(f"fencepost pairwise {file.name} {seed}")
    clusters = tuple(_clusters(rng, file, possible))
    legal: dict[tuple[str, str], int] = {}
    for name, fault in faults.items():
        for place, cluster in enumerate(clusters):
            if duplicates(fault) is (cluster.duplicate is not None):
                for role in sorted(_roles(rng, fault, cluster)):
                    legal.setdefault((name, role), place)
    rounds = tuple(cover(legal, list(operations)))
    return Pairwise(file, reference, seed, faults, operations, clusters, legal, rounds)


def legal_pairs(
    legal: Mapping[tuple[str, str], int], operations: Sequence[str] | Mapping[str, object]
) -> frozenset[Pair]:
    """Return all pairs of faults and roles that are legal, and of each of these with each operation."""
    single = {each for pair in legal for each in pair}
    return frozenset(
        {frozenset(pair) for pair in legal} | {frozenset({name, each}) for name in operations for each in single}
    )


def cover(legal: Mapping[tuple[str, str], int], operations: Sequence[str]) -> Iterator[Round]:
    """Yield rounds that have all pairs, the one with the most new pairs first; of equals, the first in order."""
    missing = set(legal_pairs(legal, operations))
    while missing:
        candidates = (_best(fault, role, operations, cluster, missing) for (fault, role), cluster in legal.items())
        chosen = max(candidates, key=lambda each: sum(pair in missing for pair in each.pairs))
        missing -= set(chosen.pairs)
        yield chosen


def _best(fault: str, role: str, operations: Sequence[str], cluster: int, missing: set[Pair]) -> Round:
    """Return the round of a fault and a role with the operations that have the most new pairs."""

    def new(operation: str) -> int:
        return sum(frozenset({operation, each}) in missing for each in (fault, role))

    wanted = sorted((each for each in operations if new(each)), key=new, reverse=True)
    return Round(fault, role, tuple(islice(wanted, OPERATIONS)), cluster)


def _clusters(rng: random.Random, file: TargetFile, possible: frozenset[Capability]) -> Iterator[ClusterSpec]:
    """Yield a plain cluster, one with clocks, disks and log directories that can be broken, and one with a second
    process. A cluster without a visible control plane is the target's own, with one topic."""
    if file.dialect is Dialect.CLIENTS:
        yield _with_one_topic(rng, file)
        return
    basic = possible - {Capability.CLOCK, Capability.DISKS, Capability.LOG_DIRS}
    yield _cluster(rng, file, basic, with_duplicate=False)
    yield _cluster(rng, file, possible, with_duplicate=False)
    if Capability.DUPLICATE in possible:
        yield _cluster(rng, file, basic, with_duplicate=True)


def _with_one_topic(rng: random.Random, file: TargetFile) -> ClusterSpec:
    while True:
        found = generate_cluster(rng, file, frozenset(), with_duplicate=False)
        if len(found.topics) == 1:
            return found


def _cluster(
    rng: random.Random, file: TargetFile, possible: frozenset[Capability], *, with_duplicate: bool
) -> ClusterSpec:
    """Return a random cluster of four brokers, three of the quorum, and all that `possible` lets plans break."""
    while True:
        found = generate_cluster(rng, file, possible, with_duplicate=with_duplicate)
        if (
            len(found.brokers) == BROKERS
            and len(found.quorum) == QUORUM
            and found.spare_brokers > 0
            and found.fewest_replicas == QUORUM
            and len(found.topics) == 1
            and found.own_clocks is (Capability.CLOCK in possible)
            and found.breakable is (Capability.DISKS in possible)
            and found.several_dirs is (Capability.LOG_DIRS in possible)
        ):
            return found


def _roles(rng: random.Random, fault: FaultMove, cluster: BreakableCluster) -> set[str]:
    generated = (fault.fault.generate(rng, cluster) for _ in range(SAMPLES))
    return {role for each in generated if each is not None for role in roles_of(each, cluster)}


def _aimed(rng: random.Random, fault: FaultMove, cluster: BreakableCluster, role: str) -> GeneratedFault:
    """Return the fault, aimed at a node in this role."""
    while True:
        found = fault.fault.generate(rng, cluster)
        if found is not None and role in roles_of(found, cluster):
            return found


def roles_of(fault: GeneratedFault, cluster: BreakableCluster) -> frozenset[str]:
    """Return the roles that a fault is aimed at: at both ends, if it breaks links."""
    return frozenset(_role(ref, cluster) for ref in fault.parameters.aims)


def _role(ref: str, cluster: BreakableCluster) -> str:
    if ref.startswith("leader:"):
        return "leader"
    if ref.startswith("followers:"):
        return "followers"
    if ref in ("active-controller", "standby-controller", "zookeeper-leader"):
        return ref
    if ref.startswith("site:"):
        return "clients"
    if ref == cluster.quorum_role or ref in cluster.quorum:
        return cluster.quorum_role
    return "brokers"
