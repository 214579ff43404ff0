"""The plans of a campaign that learns: each is chosen from variants of its seed, by what earlier runs had.

Nothing else is different: a chosen plan is as random, as legal and as careful in its claims as any other. One of three
ways chooses it; which one is random:

- *rare*: the variant whose combinations were tried least. Its score is the number of defects that it is expected to
  show: each combination may have one (`PRIOR`), and a defect that n earlier runs did not show is shown by the next one
  with 1 / ((n + 1) (n + 2)), if nothing is known of how often it shows. Plans that this campaign made before count as
  runs, too.
- *near*: the variant that has the most in common with a plan that failed. The faults of that plan are on, and few
  others (directed swarm: Alipour, Groce et al., ISSTA 2016).
- *free*: the plan that the seed stands for.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from fencepost.harness.campaign.combinations import ANY, Combination, parts, tried
from fencepost.harness.campaign.features import FaultMove, Feature, draw
from fencepost.harness.campaign.guidance import Failure, Guidance
from fencepost.harness.campaign.planner import Draw
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan

VARIANTS = 24
"""The plans from which one is chosen. Each takes some milliseconds."""
FREE, NEAR = 0.2, 0.3
"""The fractions of plans that are free, and that are near a failure if there was one."""
OTHERS = 0.1
"""The chance that a fault is on in a plan near a failure that had none of this kind."""

KNOWN = 3
"""Earlier runs of a combination that count, at most: those on another build say little of this one."""
PRIOR = {"": 0.40, "r": 0.12, "s": 0.12, "c": 0.12, "rs": 0.05, "rc": 0.05, "sc": 0.05, "rsc": 0.07}
"""The share of defects that a kind alone triggers, and a kind with role (r), state (s) and clients (c). By number of
factors: Kuhn, Wallace, Gallo, IEEE TSE 2004; divided evenly among those with the same number."""
START, EACH_FAULT = 10.0, 3.0
"""About how many seconds a plan takes on the reference cluster, and how many more for each fault."""
VALUES = {"r": 5, "s": 15, "c": 5}
"""About how many values a role, a state and clients have: the share is divided among them."""


class Way(StrEnum):
    """How a plan was chosen."""

    RARE = "rare"
    NEAR = "near"
    FREE = "free"


@dataclass(frozen=True)
class Choice:
    """A chosen plan, and how it was. `near`: the failure that it is near."""

    plan: Plan
    way: Way
    near: Failure | None = None


class MakePlan(Protocol):
    """Makes a variant of the plan of a seed: `planner.generate` for one target and backend."""

    def __call__(self, seed: int, variant: int, choose: Draw) -> Plan: ...


@dataclass
class GuidedPlans:
    """The plans of one campaign, made in the order of their numbers: each depends on those before."""

    make: MakePlan
    guidance: Guidance
    variants: int = VARIANTS
    _counts: Counter[Combination] = field(init=False)

    def __post_init__(self) -> None:
        self._counts = Counter({each: min(number, KNOWN) for each, number in self.guidance.counts.items()})

    def choices(self, seeds: Iterable[int]) -> Iterator[Choice]:
        """Yield a plan for each seed."""
        for seed in seeds:
            chosen = self._choose(seed)
            self._counts.update(parts(tried(chosen.plan)))
            yield chosen

    def _choose(self, seed: int) -> Choice:
        rng = random.Random(f"fencepost guided campaign {seed}")
        dice, failures = rng.random(), self.guidance.failures
        if dice < FREE:
            return Choice(self.make(seed, 0, draw), Way.FREE)
        if failures and dice < FREE + NEAR:
            failure = rng.choice(failures)
            plans = [self.make(seed, each, Near(failure)) for each in range(1, self.variants + 1)]
            return Choice(max(plans, key=lambda plan: likeness(plan, failure, self._counts)), Way.NEAR, failure)
        plans = [self.make(seed, each, draw) for each in range(self.variants)]
        return Choice(max(plans, key=lambda plan: expected_defects(plan, self._counts) / seconds(plan)), Way.RARE)


def seconds(plan: Plan) -> float:
    """Return about how long a plan takes."""
    return START + EACH_FAULT * sum(isinstance(step, InjectStep) for step in plan.steps)


def expected_defects(plan: Plan, counts: Mapping[Combination, int]) -> float:
    """Return how many defects a plan is expected to show that earlier ones did not; in units of all defects by kind.

    `counts`: in how many runs each combination was.
    """
    found = ((each, counts.get(each, 0)) for each in parts(tried(plan)))
    return sum(_WEIGHTS[_pattern(each)] / ((n + 1) * (n + 2)) for each, n in found)


def likeness(plan: Plan, failure: Failure, counts: Mapping[Combination, int]) -> float:
    """Return how much a plan has in common with one that failed, 0 to 1: what few other runs have counts most."""
    here, there = parts(tried(plan)), parts(failure.combinations)

    def weight(found: frozenset[Combination]) -> float:
        return sum(1 / (counts.get(each, 0) + 1) for each in found)

    return weight(here & there) / (weight(here | there) or 1.0)


class Near:
    """Draws features as any plan does, but of the faults those that a failure had, and few others."""

    def __init__(self, failure: Failure) -> None:
        self.kinds = {each.kind for each in failure.combinations}

    def __call__(self, rng: random.Random, features: Sequence[Feature]) -> tuple[Feature, ...]:
        usual = draw(rng, features)
        faults = [
            each
            for each in features
            if isinstance(each, FaultMove) and each.weight and (each.name in self.kinds or rng.random() < OTHERS)
        ]
        others = [each for each in usual if not isinstance(each, FaultMove)]
        return (*faults, *others) if faults else usual


def _pattern(each: Combination) -> str:
    return "".join(
        name for name, value in zip("rsc", (each.role, each.state, each.clients), strict=True) if value != ANY
    )


def _weight(pattern: str) -> float:
    weight = PRIOR[pattern]
    for factor in pattern:
        weight /= VALUES[factor]
    return weight


_WEIGHTS = {pattern: _weight(pattern) for pattern in PRIOR}
