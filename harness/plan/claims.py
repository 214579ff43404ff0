"""The claims of a plan: the requirements that its steps judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.harness.plan.model import Plan


@dataclass(frozen=True)
class Claim:
    """A requirement that a step judges, or that the whole run is listed to break (`step` is None).

    `level` is must, may or never. `outcome` is that of the step's answers, or None for the condition that it awaits.
    `difference` is the listed difference that the claim follows in place of the document.
    """

    requirement: str
    step: str | None
    level: str
    outcome: str | None = None
    difference: str | None = None

    @property
    def is_judged(self) -> bool:
        """Return whether a run judges it: a deviation that may show only says what a checker's violation counts as."""
        return self.step is not None or self.level != "may"


def claims(plan: Plan) -> Iterator[Claim]:
    """Yield each requirement of each expectation of the plan, and those of its deviations."""
    for place, step in enumerate(plan.steps):
        expect = getattr(step, "expect", None)
        if expect is not None:
            outcome = getattr(expect, "outcome", None)
            for each in (expect.requirement, *expect.also):
                yield Claim(each, plan.step_name(place), expect.level.value, outcome, expect.difference)
    for deviation in plan.deviations:
        yield Claim(deviation.requirement, None, deviation.level, difference=deviation.difference)
