"""Scenarios, and the factories by which the suite of each document makes its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from fencepost.faults.capabilities import Capability
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.suites.target_facts import (
    ALL_DESIGNS,
    LEADER_DRIVEN,
    SHIPPED_QUORUM,
    WITHOUT_ZOOKEEPER,
    ZOOKEEPER_MODE,
    TargetFacts,
)


@dataclass(frozen=True, repr=False)
class Scenario:
    """One requirement of a document, or a few that belong together, and how to build the plan that shows them.

    `requirements` are those that the scenario is about, each judged by a step of its plans or by every run. `needs` are
    the capabilities that it requires of a target. `seconds` is about how long it runs on the reference cluster: a suite
    starts with the longest. `levels` are protocol levels: the plan takes the first that the target has; without any,
    the target's own.
    """

    slug: str
    title: str
    requirements: tuple[str, ...]
    needs: frozenset[Capability]
    seconds: int
    build: Callable[[Scenario, TargetFacts, int], Plan]
    """Takes the scenario, the target and the seed."""
    document: str = "KIP-631"
    dialects: frozenset[Dialect] = WITHOUT_ZOOKEEPER
    levels: tuple[str, ...] = ()
    releases: int = 1
    """The number of releases that the target needs: 2 for an upgrade from one to the other."""
    workloads: frozenset[str] = frozenset()
    """The kinds of clients that a target has to serve (`workloads:` of the target file)."""
    features: frozenset[str] = frozenset()
    """The features that the target's release has to have (`features:` of the target file)."""

    def __repr__(self) -> str:
        """Return the slug: Allure tells the histories of tests apart by it, so it must be short and never change."""
        return self.slug

    def applies_to(self, target: TargetFacts) -> bool:
        """Return True if the scenario's document describes the target's design, at a level that the target has.

        The target has to have as many releases, and the features, as the scenario is about.
        """
        at_some_level = not (self.levels and target.levels) or self.level(target) is not None
        has_features = not any(map(target.lacks, self.features))
        return (
            target.dialect in self.dialects and at_some_level and has_features and len(target.releases) >= self.releases
        )

    def level(self, target: TargetFacts) -> str | None:
        """Return the level that nodes are started at, or None for the target's own."""
        return next((level for level in self.levels if level in target.levels), None)

    def plan(self, target: TargetFacts, seed: int) -> Plan:
        """Return the plan. It depends on nothing but the target and the seed."""
        return self.build(self, target, seed)

    def unavailable_reason(self, target: TargetFacts, backend: str | None = None) -> str | None:
        """Return why the scenario cannot run on this target, or None.

        With a backend, ask also what that backend lacks on this machine.
        """
        missing = sorted(each.value for each in self.needs - target.capabilities)
        if missing:
            return f"{target.reference} is not capable of {', '.join(missing)}"
        if unserved := sorted(self.workloads - target.workloads):
            return f"{target.reference} serves no {', '.join(unserved)} (`workloads` of its target file)"
        needs = sorted(self.needs, key=lambda each: each.value) if backend else ()
        return next((reason for each in needs if (reason := unavailable_reason(backend or "", each)) is not None), None)


def _live_scenario(
    slug: str,
    title: str,
    build: Callable[[Scenario, TargetFacts, int], Plan],
    seconds: int,
    *requirements: str,
    document: str,
    levels: tuple[str, ...] = (),
    needs: Iterable[Capability] = (),
    workloads: Iterable[str] = (),
    dialects: frozenset[Dialect] = ZOOKEEPER_MODE,
    releases: int = 1,
    features: Iterable[str] = (),
) -> Scenario:
    """Return a scenario whose cluster becomes whole again at its end, so that it proves LIVE-01 and LIVE-03.

    `requirements` may be of several documents: a plan names those that bind its target's design.
    """
    return Scenario(
        slug=slug,
        title=title,
        requirements=(*requirements, "LIVE-01", "LIVE-03"),
        needs=frozenset(needs),
        seconds=seconds,
        build=build,
        document=document,
        dialects=dialects,
        levels=levels,
        releases=releases,
        workloads=frozenset(workloads),
        features=frozenset(features),
    )


HEARTBEATS = ("heartbeats",)
"""The level of KIP-343."""
HEARTBEATS_OR_SHIPPED = ("heartbeats", "shipped")
"""The level of KIP-343; for a target that does not have it, the one that it ships instead."""
REPLICA_EVENTS = ("replica-events",)
"""The level of ReplicaStateEvent."""
REPLICA_EVENTS_OR_SHIPPED = ("replica-events", "shipped")
"""The level of ReplicaStateEvent; for a target that does not have it, the one that it ships instead."""
PLAIN = ("plain",)
"""The level of Replication design V2 at which leadership does not return to the preferred replica."""
DYNAMIC = "dynamic"
"""The level of Apache Kafka at which the metadata log holds the voters, and requests add and remove them."""
REPLICATION_V2 = "Replication design V2"

internals_scenario = partial(_live_scenario, document="Kafka Internals (2017)")
kip_343_scenario = partial(_live_scenario, document="KIP-343", levels=HEARTBEATS)
replica_state_event_scenario = partial(_live_scenario, document="ReplicaStateEvent", levels=REPLICA_EVENTS)
kraft_scenario = partial(_live_scenario, dialects=SHIPPED_QUORUM)
"""A scenario of Apache Kafka without ZooKeeper, for the KIP that `document` names."""
replication_v2_scenario = partial(_live_scenario, document=REPLICATION_V2, dialects=LEADER_DRIVEN, levels=PLAIN)
fault_scenario = partial(_live_scenario, document="Faults", dialects=ALL_DESIGNS)
"""One fault, or a few together, on every design that can be broken so."""
