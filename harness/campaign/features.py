"""The features of random plans, one interface for all of them, and the draw of those that one plan has.

A *feature* is a fault, an operation, a workload, a situation, or settings of the brokers. Each plan has a random subset
of them, about half (swarm testing: Groce, Zhang, Eide, Chen, Regehr, ISSTA 2012; decision 0051): what a plan lacks
leaves room for more of what it has, and cannot hide it.

- A `Move` adds steps to the script of a plan: faults (`FaultMove`, by `Fault.generate`), operations and situations.
- A `WorkloadFeature` changes the clients that run beside the steps.

A subclass with a `name` in a module of `operations`, `situations` or `workloads` is found there (`found_in`).
`left_out_reason` says why plans for a target cannot have the feature; campaigns list these reasons.
"""

from __future__ import annotations

import pkgutil
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from fencepost.faults.capabilities import Capability
from fencepost.faults.fault import EVERYWHERE, Fault
from fencepost.harness.campaign.cluster_spec import ClusterSpec
from fencepost.harness.plan.model import WorkloadSpec
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.releases import Releases, within

if TYPE_CHECKING:  # the script needs no feature; a feature gets it
    from fencepost.harness.campaign.script import Script

SHARES = (0.25, 0.5, 0.75)
"""The fractions of all features that plans have, equally often: half on average."""
WITHOUT_FAULTS = 0.04
"""The fraction of plans without any fault: nothing excuses a target there."""

OF_ANY_BROKER = frozenset(
    {Capability.KILL, Capability.PAUSE, Capability.TERMINATE, Capability.LINKS, Capability.MESSAGES}
)
"""The capabilities of faults that need nothing of a broker but that it is a process with connections."""


class FeatureKind(StrEnum):
    """The kinds of features. A plan first chooses the kind of its next move, then the feature."""

    FAULT = "fault"
    OPERATION = "operation"
    SITUATION = "situation"
    WORKLOAD = "workload"
    SETTINGS = "settings"


KIND_WEIGHTS: Mapping[FeatureKind, int] = {FeatureKind.FAULT: 6, FeatureKind.OPERATION: 4, FeatureKind.SITUATION: 3}
"""The frequencies of the kinds among the moves of a plan that has features of each."""


class Feature(ABC):
    """A part of random plans that one plan has and another one lacks."""

    kind: ClassVar[FeatureKind]
    name: str
    """The name in summaries. A class without one is a base of several features."""
    weight: int = 1
    """The frequency among the features of its kind that a plan has. 0: random plans never have it."""
    essential: bool = False
    """Every plan has it for a target that can have it at all: it is what the target was named for."""
    needs: frozenset[Capability] = frozenset()
    """The capabilities that target, backend and machine must have."""
    left_out: Mapping[str, str] = {}
    """The reasons why random plans do not have it: by target, by dialect, or for all of them (`EVERYWHERE`)."""
    settings: Mapping[str, str] = {}
    """Settings of all brokers and controllers that plans with it have, since it has no place without them."""
    settings_of_controllers: Mapping[str, str] = {}
    """Settings of all controllers that plans with it have beside these."""
    of_any_broker: bool = False
    """Plans for a target that shows no control plane have it, too: it claims what every broker owes."""
    requests: frozenset[str] = frozenset()
    """The requests that it cannot be without (`missing_requests` of the target file)."""
    level: str | None = None
    """The protocol level of plans with it, where the target has levels: it has no place at others."""
    releases: Mapping[str, Releases] = {}
    """The releases, by target, that have it; a target that is not named has it in all of its releases."""

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        """Return why plans for a target cannot have it, with the capabilities at hand; None if they can."""
        if not (self.of_any_broker or target.dialect.shows_decisions):
            return "random plans have it only where a control plane is visible"
        for each in sorted(self.needs - possible, key=str):
            return f"{target.name} is not capable of {each.value}"
        for request in sorted(self.requests.intersection(target.missing_requests)):
            return f"{target.name} lacks the request {request}"
        names = (target.name, target.extends or target.name, target.dialect.value, EVERYWHERE)
        if (reason := next((self.left_out[name] for name in names if name in self.left_out), None)) is not None:
            return reason
        known = next((self.releases[name] for name in names if name in self.releases), None)
        return None if within(version, known) else f"{target.name} {version} does not have it: {known}"


class Move(Feature):
    """A feature that adds steps to a script."""

    @abstractmethod
    def add(self, script: Script) -> str | None:
        """Add one to the script, and return its title; None, and nothing added, if it has no place in it now."""


class WorkloadFeature(Feature):
    """A feature of the clients."""

    kind = FeatureKind.WORKLOAD
    of_any_broker = True

    @abstractmethod
    def apply(self, rng: random.Random, cluster: ClusterSpec, workload: WorkloadSpec) -> WorkloadSpec:
        """Return the workload with this feature. It keeps one producer `p-<topic>` at acks=all for each topic."""


class FaultMove(Move):
    """A fault as a move: generated at random, and injected when the script allows it."""

    kind = FeatureKind.FAULT

    def __init__(self, fault: type[Fault]) -> None:
        self.fault = fault
        self.name = fault.name
        self.weight = fault.weight
        self.left_out = fault.left_out
        self.needs = frozenset({fault.capability})
        self.of_any_broker = fault.capability in OF_ANY_BROKER

    def left_out_reason(self, target: TargetFile, version: str, possible: frozenset[Capability]) -> str | None:
        return target.promises.unpromised(self.name) or super().left_out_reason(target, version, possible)

    def add(self, script: Script) -> str | None:
        fault = self.fault.generate(script.rng, script.cluster)
        if fault is None or not script.allows(fault):
            return None
        script.add(fault)
        return fault.title


def draw(rng: random.Random, features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Return the features of one plan: a random subset, with a fault among them in almost all plans."""
    share = rng.choice(SHARES)
    chosen = [each for each in features if each.weight and (rng.random() < share or each.essential)]
    if any(each.kind is FeatureKind.OPERATION for each in chosen) and rng.random() < WITHOUT_FAULTS:
        without = (FeatureKind.OPERATION, FeatureKind.WORKLOAD, FeatureKind.SETTINGS)
        return tuple(each for each in chosen if each.kind in without)
    if not any(isinstance(each, FaultMove) for each in chosen):
        faults = [each for each in features if isinstance(each, FaultMove) and each.weight]
        chosen += rng.choices(faults, weights=[each.weight for each in faults])
    return tuple(chosen)


def next_kinds(rng: random.Random, moves: Sequence[Move], count: int) -> list[FeatureKind]:
    """Return the kinds of so many moves, of those that there are. If there are faults, one of the moves is a fault.

    A kind that an essential move has is added if it is missing.
    """
    kinds = [kind for kind in KIND_WEIGHTS if any(move.kind is kind for move in moves)]
    if not kinds:
        return []
    chosen = rng.choices(kinds, weights=[KIND_WEIGHTS[kind] for kind in kinds], k=count)
    if FeatureKind.FAULT in kinds and FeatureKind.FAULT not in chosen:
        chosen[rng.randrange(count)] = FeatureKind.FAULT
    for kind in dict.fromkeys(move.kind for move in moves if move.essential):
        if kind not in chosen:
            chosen.insert(rng.randrange(len(chosen) + 1), kind)
    return chosen


def found_in(package: ModuleType) -> Iterator[Feature]:
    """Yield each feature that a module of the package defines, in the order of the modules' names."""
    for module in sorted(found.name for found in pkgutil.iter_modules(package.__path__)):
        loaded = import_module(f"{package.__name__}.{module}")
        for each in vars(loaded).values():
            if isinstance(each, type) and issubclass(each, Feature) and each.__module__ == loaded.__name__:
                yield from [each()] if "name" in vars(each) else []
