"""Random plans. Everything random ends in the plan: the same seed for the same target gives the same file.

A plan first draws its features (`features.draw`): those faults, operations, situations and workloads that it has at
all, of what target, backend and machine are capable of. Then it makes one move after the other with them. `left_out`
lists the features that no plan has here, with the reasons.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from fencepost.faults.capabilities import Capability
from fencepost.faults.registry import FAULTS
from fencepost.harness.backends import check_backend
from fencepost.harness.campaign import operations, situations, workloads
from fencepost.harness.campaign.cluster_spec import ClusterSpec, generate_again, generate_cluster
from fencepost.harness.campaign.deviations import deviations
from fencepost.harness.campaign.features import (
    FaultMove,
    Feature,
    FeatureKind,
    Move,
    WorkloadFeature,
    draw,
    found_in,
    next_kinds,
)
from fencepost.harness.campaign.leftovers import leftovers
from fencepost.harness.campaign.operations.operation import Operation
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA
from fencepost.harness.campaign.operations.upgrades import final_steps
from fencepost.harness.campaign.script import Script
from fencepost.harness.campaign.second_time import again, interrupt
from fencepost.harness.campaign.secured import left_out_reason, possible_with
from fencepost.harness.campaign.settling import FrequentSnapshots, FrequentSnapshotsOfTheDraft
from fencepost.harness.checkers.owed import every_run, every_workload
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.model import Acknowledged, Coverage, FaultProven, NodeSettings, Plan
from fencepost.harness.plan.security import PlannedSecurity
from fencepost.harness.plan.steps.describe import Describe
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.registry import load, reference_of
from fencepost.harness.targets.securing import security_for, with_security

VERSION = 21
"""The version of the plans that seeds stand for. It rises with every change of this package that makes other plans of
the same seeds. A new feature makes other plans too: the record of a run is its plan file, not its seed."""

COUNTS = ((1, 3), (2, 5), (3, 6), (4, 4), (5, 3), (6, 2), (8, 1))
"""Numbers of moves of a plan, with their frequencies."""
TRIES = 200
TOLERATED = 0.6
"""The fraction of plans that never break more at a time than a design tolerates, so that they claim progress."""
DUPLICATES = 0.3
"""The fraction of plans with a second process, of those that drew the fault."""
IN_A_ROW = (6, 12, 20, 30)
"""Numbers of operations one after the other: they take milliseconds, where a fault takes seconds."""
AGAIN = 0.15
"""The fraction of operations on a whole cluster that come a second time, after a failover, a restart, or a refusal."""
LOOKED_AT = 0.15
"""The fraction of operations on a whole cluster after which all nodes describe everything. The next change of the same
object would hide what the first one did."""
INTERRUPTED = 0.4
"""The fraction of operations on a whole cluster, of several requests, with such an event before the last of these."""
UNDER_A_FAULT = 0.7
"""The fraction of operations before which no fault is healed, of those that follow a fault."""
DEADLINE_MS = 240_000
SETTING_VALUES: Mapping[str, tuple[str, ...]] = {
    "request.timeout.ms": ("5000",),
    "offsets.retention.check.interval.ms": ("1000",),
    "offsets.load.buffer.size": ("1000",),
    "log.message.timestamp.type": ("LogAppendTime",),
    "log.index.interval.bytes": ("1",),
    "num.replica.fetchers": ("3",),
}
"""Settings of brokers, as users have them, that change no guarantee."""
MOST_SETTINGS = 4

OF_CONTAINERS = frozenset({Capability.NETWORK, Capability.RESOURCES})

DOCUMENT = "Campaign"

Draw = Callable[[random.Random, Sequence[Feature]], tuple[Feature, ...]]
"""Draws the features of one plan from those that plans can have."""


class BrokerSettings(Feature):
    """One to four settings of all brokers have other values than by default."""

    kind = FeatureKind.SETTINGS
    name = "broker-settings"
    left_out: Mapping[str, str] = dict.fromkeys(ONLY_KAFKA, "its nodes have no such settings")

    def values(self, rng: random.Random) -> dict[str, str]:
        """Return the settings of one plan."""
        keys = rng.sample(sorted(SETTING_VALUES), rng.randint(1, MOST_SETTINGS))
        return {key: rng.choice(SETTING_VALUES[key]) for key in keys}


@dataclass(frozen=True)
class LeftOut:
    """A feature that no plan has here, and the reason."""

    kind: str
    """Its name. Summaries of campaigns are saved with this key."""
    reason: str


@cache
def all_features() -> tuple[Feature, ...]:
    """Return every fault, operation, situation, workload and kind of settings that there is."""
    return (
        *map(FaultMove, FAULTS.values()),
        *found_in(operations),
        *found_in(situations),
        *found_in(workloads),
        BrokerSettings(),
        FrequentSnapshots(),
        FrequentSnapshotsOfTheDraft(),
    )


def generate(
    target: str,
    backend: str,
    seed: int,
    variant: int = 0,
    choose: Draw = draw,
    earlier: Sequence[Plan] = (),
    security: str | None = None,
    lacks: Collection[Capability] | None = None,
) -> Plan:
    """Return a random plan for `quorum`, or with a version `apache-kafka:4.4.0`. Raise UsageError if there is no such
    target.

    `lacks`: what the machines that run it are not capable of; None: it runs on this one.

    A seed has any number of variants, from which a campaign that learns chooses; 0 is the plan that the seed stands
    for. `earlier` are the plans that run before this one on the same cluster, whose nodes it takes over.
    """
    check_backend(backend)
    file = load(target).file
    possible = capabilities_here(file, backend, lacks)
    secured = security_for(file, security)
    plan = generate_for(file, reference_of(target), seed, possible, variant, choose, earlier, secured)
    return with_security(plan, secured)


def generate_for(
    file: TargetFile,
    reference: str,
    seed: int,
    possible: frozenset[Capability],
    variant: int = 0,
    choose: Draw = draw,
    earlier: Sequence[Plan] = (),
    security: PlannedSecurity = "plaintext",
) -> Plan:
    """Return a random plan that needs only the capabilities in `possible`, and can have the security."""
    of_variant = f" {variant}" if variant else ""
    rng = random.Random(f"fencepost campaign {VERSION} {file.name} {seed}{of_variant}")
    there = possible_with(features_for(file, reference, possible), security)
    known = [each for each in there if not earlier or fits(each, earlier[0])]
    features = choose(rng, known)
    moves = [each for each in features if isinstance(each, Move)]
    faults = [each.fault for each in moves if isinstance(each, FaultMove)]
    duplicate = next((each for each in moves if duplicates(each)), None)
    with_duplicate = duplicate is not None and rng.random() < DUPLICATES
    needed = frozenset(fault.capability for fault in faults)
    cluster = (
        generate_again(rng, file, earlier)
        if earlier
        else generate_cluster(rng, file, needed, with_duplicate=with_duplicate)
    )
    cluster = with_workload(rng, cluster, features)
    tolerated_only = rng.random() < TOLERATED and (cluster.spare_brokers > 0 or cluster.spare_quorum > 0)
    tolerated_only &= not with_duplicate or cluster.spare_brokers > 0  # the second process has to find its fault
    script = Script(rng, cluster, tolerated_only)
    script.follow(earlier)
    script.open(leftovers(earlier))
    count = rng.choices([number for number, _ in COUNTS], weights=[weight for _, weight in COUNTS])[0]
    at_hand = [each for each in moves if not duplicates(each)]
    titles = _add_moves(rng, script, at_hand, count, duplicate if with_duplicate else None)
    if not titles:  # the few features of this plan had no place on this cluster
        others = [each for each in known if isinstance(each, FaultMove) and not duplicates(each)]
        titles += filter(None, [_add(rng, script, others)])
    return finished(file, reference, seed, script, cluster, titles, features)


def finished(
    file: TargetFile,
    reference: str,
    seed: int,
    script: Script,
    cluster: ClusterSpec,
    titles: Sequence[str],
    features: Iterable[Feature],
) -> Plan:
    """Close the script, and return its plan. `cluster` is as it was before the first step."""
    last = [each for each in features if isinstance(each, Operation) and each.at_end]
    script.close(final_steps, script.rng.sample(last, len(last)))
    return Plan(
        scenario=f"random-{seed}",
        title="; ".join(titles),
        document=DOCUMENT,
        seed=seed,
        target=reference,
        requirements=_requirements(file, script),
        level=cluster.level,
        timing=cluster.timing,
        settings=_settings(cluster),
        deadline_ms=DEADLINE_MS * file.timeout_factor,
        topology=cluster.topology,
        topics=cluster.topics,
        workload=cluster.workload,
        steps=tuple(script.steps),
        coverage=tuple(_coverage(script)),
        deviations=deviations(file, cluster.topology),
    )


def with_workload(rng: random.Random, cluster: ClusterSpec, features: Iterable[Feature]) -> ClusterSpec:
    """Return the cluster with the clients and the settings of brokers of those features that have some."""
    for each in features:
        cluster = replace(
            cluster,
            settings_of_all={**cluster.settings_of_all, **each.settings},
            settings_of_controllers={**cluster.settings_of_controllers, **each.settings_of_controllers},
        )
        if each.level in cluster.target.levels:
            cluster = replace(cluster, level=each.level)
        if isinstance(each, WorkloadFeature):
            cluster = replace(cluster, workload=each.apply(rng, cluster, cluster.workload))
        elif isinstance(each, BrokerSettings):
            cluster = replace(cluster, settings=each.values(rng))
    return cluster


def _settings(cluster: ClusterSpec) -> NodeSettings | None:
    settings = NodeSettings(
        all=dict(cluster.settings_of_all),
        controller=dict(cluster.settings_of_controllers),
        broker=dict(cluster.settings),
    )
    return None if settings == NodeSettings() else settings


def fits(feature: Feature, first: Plan) -> bool:
    """Return whether plans can have the feature on a cluster that was started for its first plan."""
    given = first.settings.all if first.settings is not None else {}
    if isinstance(feature, BrokerSettings) or (isinstance(feature, Move) and duplicates(feature)):
        return False
    return feature.settings.items() <= given.items() and feature.level in (None, first.level)


def capabilities_here(
    file: TargetFile, backend: str, lacks: Collection[Capability] | None = None
) -> frozenset[Capability]:
    """Return what the target, the backend and this machine, or others that lack this, are capable of.

    UsageError for what runs elsewhere.
    """
    if file.running is not None:
        raise UsageError(
            f"{file.name} runs elsewhere, and random plans create and delete topics, and end brokers, as they please: "
            f"`fencepost conformance --target {file.name}` runs the scenarios that it owes"
        )
    return _capabilities(file).difference(reasons_here(file, backend) if lacks is None else lacks)


def features_for(file: TargetFile, reference: str, possible: frozenset[Capability]) -> list[Feature]:
    """Return the features that plans for a target can have with these capabilities."""
    version = _version(file, reference)
    return [each for each in all_features() if each.left_out_reason(file, version, possible) is None]


def reasons_here(target: TargetFile, backend: str) -> dict[Capability, str]:
    """Return the capabilities that plans for a target can need and this machine lacks, each with the reason."""
    reasons = {each: unavailable_reason(backend, each) for each in _capabilities(target)}
    return {each: reason for each, reason in reasons.items() if reason is not None}


def left_out(
    target: TargetFile,
    backend: str,
    version: str,
    security: str | None = None,
    lacks: Mapping[Capability, str] | None = None,
) -> list[LeftOut]:
    """Return the features that no plan for this target has on this backend, each with its reason.

    `lacks`: what the machines that run the plans are not capable of, with the reasons; None: they run on this one.
    """
    reasons = reasons_here(target, backend) if lacks is None else lacks
    possible = _capabilities(target).difference(reasons)
    secured = security_for(target, security)

    def reason_of(each: Feature) -> str | None:
        unavailable = _unavailable(each, reasons) or each.left_out_reason(target, version, possible)
        return unavailable or left_out_reason(each, secured)

    found = ((each.name, reason_of(each)) for each in all_features())
    return [LeftOut(name, reason) for name, reason in found if reason is not None]


def _unavailable(feature: Feature, reasons: Mapping[Capability, str]) -> str | None:
    """Return the reason why the machines lack what the feature needs."""
    return next((reasons[each] for each in sorted(feature.needs, key=str) if each in reasons), None)


def _version(file: TargetFile, reference: str) -> str:
    return reference.partition(":")[2] or file.version


def _capabilities(target: TargetFile) -> frozenset[Capability]:
    """Return the capabilities of a target. Those of containers do not depend on what runs in them."""
    return target.capabilities | OF_CONTAINERS


def duplicates(move: Move) -> bool:
    """Return whether the move is the fault for which the topology needs a second process."""
    return isinstance(move, FaultMove) and move.fault.capability is Capability.DUPLICATE


def _add_moves(
    rng: random.Random, script: Script, moves: Sequence[Move], count: int, duplicate: Move | None
) -> list[str]:
    """Add so many moves to the script, and a duplicate at a random place; return the titles of what was added."""
    titles = list[str]()
    kinds = next_kinds(rng, moves, count)
    at = rng.randrange(count + 1)
    for place in range(count + 1):
        if place == at and duplicate is not None:
            titles += filter(None, [duplicate.add(script)])
            script.heal_some()
        if place < len(kinds):
            times = rng.choice(IN_A_ROW) if kinds[place] is FeatureKind.OPERATION else 1
            for _ in range(times):
                titles += filter(None, [_add(rng, script, [each for each in moves if each.kind is kinds[place]])])
            follows = kinds[place + 1 : place + 2]
            if not (follows == [FeatureKind.OPERATION] and rng.random() < UNDER_A_FAULT):
                script.heal_some()
    return titles


def _add(rng: random.Random, script: Script, moves: Sequence[Move]) -> str | None:
    """Add a move, chosen by the weights. One that has no place in the script gives way to another."""
    weights = [move.weight for move in moves]
    for _ in range(TRIES):
        before, move = len(script.steps), rng.choices(moves, weights=weights)[0]
        if (title := move.add(script)) is not None:
            if not isinstance(move, Operation) or not script.undisturbed:
                return title
            if rng.random() < INTERRUPTED:
                interrupt(script, before)
            if script.undisturbed and rng.random() < LOOKED_AT:
                script.steps.append(Describe(as_=script.name("look")))
            if rng.random() < AGAIN:
                return "; ".join(filter(None, [title, again(script, move, script.steps[before:])]))
            return title
    return None


def _requirements(file: TargetFile, script: Script) -> tuple[str, ...]:
    claimed = (getattr(step, "expect", None) for step in script.steps)
    live = (name for each in claimed if each is not None for name in (each.requirement, *each.also))
    return tuple(dict.fromkeys((*every_run(file.dialect), *every_workload(script.cluster.workload), *live)))


def _coverage(script: Script) -> Iterable[Coverage]:
    """Yield that each fault worked, and that records were acknowledged before the first and after all were healed."""
    yield from (FaultProven(fault=name) for name in script.faults)
    if script.faults:
        yield Acknowledged(acks="all", before=f"{script.faults[0]}.injected")
    yield Acknowledged(acks="all", after="mend.ended")
