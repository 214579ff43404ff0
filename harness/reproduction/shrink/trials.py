"""Trials of plans: each plan runs a few times to find out whether it fails at the stated rate."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import ceil

from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan


class TrialOutcome(Enum):
    """The outcome of one run of a candidate."""

    FAILED = "failed as before"
    OTHER = "did not"
    NOTHING = "infrastructure"
    """The run says nothing. The first one of a plan is repeated; a second one counts as not failed."""


class OutOfTime(Exception):
    """The deadline has passed."""


@dataclass(frozen=True)
class Count:
    """Failures and runs of a plan."""

    failed: int
    runs: int


@dataclass
class Trials:
    """Runs each plan up to `times` times; it fails if the fraction `rate` of its runs does.

    A trial ends as soon as its result is decided. No run begins after `deadline`, in monotonic seconds.
    """

    run: Callable[[Plan], TrialOutcome]
    times: int
    rate: float
    deadline: float
    clock: Callable[[], float] = time.monotonic
    counts: dict[str, Count] = field(default_factory=dict)
    runs: int = 0

    @property
    def needed(self) -> int:
        """The number of runs that have to fail. It is rounded before `ceil`, so that 0.8 of 5 is 4."""
        return max(1, ceil(round(self.rate * self.times, 9)))

    def fails(self, plan: Plan) -> bool:
        """Return whether a plan fails, from an earlier trial if there was one. OutOfTime after the deadline."""
        name = plan_hash(plan)
        if name not in self.counts:
            self.counts[name] = self._count(plan)
        return self.counts[name].failed >= self.needed

    def first(self, plans: Sequence[Plan], trying: Callable[[int], None]) -> int | None:
        """Return the place of the first plan that fails, None if none does. `trying` gets the place of each trial."""
        for place, plan in enumerate(plans):
            trying(place)
            if self.fails(plan):
                return place
        return None

    def of(self, plan: Plan) -> Count:
        """Return the failures and runs of a plan so far."""
        return self.counts.get(plan_hash(plan), Count(0, 0))

    def _count(self, plan: Plan) -> Count:
        failed = done = 0
        again = True
        while failed < self.needed and failed + self.times - done >= self.needed:
            if self.clock() >= self.deadline:
                raise OutOfTime
            outcome = self.run(plan)
            self.runs += 1
            if outcome is TrialOutcome.NOTHING and again:
                again = False
                continue
            done += 1
            failed += outcome is TrialOutcome.FAILED
        return Count(failed, done)
