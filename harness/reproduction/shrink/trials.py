"""Whether a plan fails at the stated rate: each is run a few times, and none twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from math import ceil

from harness.plan.hash import plan_hash
from harness.plan.model import Plan


class Outcome(Enum):
    """Of one run of a candidate."""

    FAILED = "failed as before"
    OTHER = "did not"
    NOTHING = "infrastructure"
    """It says nothing; once a trial it is run again, and then it counts as one that did not fail."""


class OutOfTime(Exception):
    """The time that was given is over."""


@dataclass(frozen=True)
class Count:
    failed: int
    runs: int


@dataclass
class Trials:
    """`times` runs a plan, of which `rate` have to fail; a plan is given up, or believed, as soon as that is decided.

    `deadline` is monotonic: no run begins after it.
    """

    run: Callable[[Plan], Outcome]
    times: int
    rate: float
    deadline: float
    clock: Callable[[], float] = time.monotonic
    counts: dict[str, Count] = field(default_factory=dict)
    runs: int = 0

    @property
    def needed(self) -> int:
        """So many of `times` have to fail. Rates are decimal fractions: 0.8 of 5 is 4, not a hair more."""
        return max(1, ceil(round(self.rate * self.times, 9)))

    def fails(self, plan: Plan) -> bool:
        """OutOfTime if it cannot be said before the deadline."""
        name = plan_hash(plan)
        if name not in self.counts:
            self.counts[name] = self._count(plan)
        return self.counts[name].failed >= self.needed

    def of(self, plan: Plan) -> Count:
        """What was seen of it."""
        return self.counts.get(plan_hash(plan), Count(0, 0))

    def _count(self, plan: Plan) -> Count:
        failed = done = 0
        again = True
        while failed < self.needed and failed + self.times - done >= self.needed:
            if self.clock() >= self.deadline:
                raise OutOfTime
            outcome = self.run(plan)
            self.runs += 1
            if outcome is Outcome.NOTHING and again:
                again = False
                continue
            done += 1
            failed += outcome is Outcome.FAILED
        return Count(failed, done)
