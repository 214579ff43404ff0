"""From a plan that fails to the smallest one found that still does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from harness.plan.injects import InjectStep
from harness.plan.model import Plan
from harness.reproduction.shrink.ddmin import ddmin
from harness.reproduction.shrink.numbers import Number, numbers, with_number
from harness.reproduction.shrink.parts import Kind, Part, named, parts, without
from harness.reproduction.shrink.trials import Count, OutOfTime, Trials

PASSES = 4
"""What was needed may not be any more once something else is gone, so all is tried again; seldom more than twice."""


@dataclass(frozen=True)
class Shrunk:
    """`complete`: nothing more can be dropped; else the time was up. `count`: how often the smallest plan failed."""

    original: Plan
    plan: Plan
    count: Count
    runs: int
    candidates: int
    complete: bool

    @property
    def dropped(self) -> tuple[str, ...]:
        """In words, what the smallest plan does without."""
        return tuple(_dropped(self.original, self.plan))


def shrink(plan: Plan, trials: Trials, told: Callable[[str, Plan], None] = lambda what, plan: None) -> Shrunk | None:
    """None if the plan itself does not fail at the stated rate. OutOfTime if not even that could be said.

    `told` hears what is tried next, and the smallest plan so far.
    """
    original = named(plan)
    told("the plan itself", original)
    if not trials.fails(original):
        return None
    search = _Search(original, trials, told)
    complete = False
    with suppress(OutOfTime):
        complete = search.run()
    return Shrunk(original, search.plan, trials.of(search.plan), trials.runs, len(trials.counts), complete)


class _Search:
    """`plan` is the smallest so far, also when the time is up in the middle."""

    def __init__(self, plan: Plan, trials: Trials, told: Callable[[str, Plan], None]) -> None:
        self.plan = plan
        self._trials = trials
        self._told = told

    def run(self) -> bool:
        """Whether nothing more can be dropped."""
        for _ in range(PASSES):
            before = self.plan
            for kind in Kind:
                self._drop(kind)
            for number in list(numbers(self.plan)):
                self._lessen(number)
            if self.plan == before:
                return True
        return False

    def _drop(self, kind: Kind) -> None:
        whole, everything = self.plan, parts(self.plan, kind)

        def fails(kept: tuple[Part, ...]) -> bool:
            candidate = without(whole, [part for part in everything if part not in kept])
            if candidate is None or candidate == whole:
                return False
            self._told(f"{len(kept)} of {_many(len(everything), kind.value)}", self.plan)
            if not self._trials.fails(candidate):
                return False
            if _size(candidate) < _size(self.plan):
                self.plan = candidate
            return True

        ddmin(everything, fails)

    def _lessen(self, number: Number) -> None:
        for value in number.smaller():
            candidate = with_number(self.plan, number, value)
            if candidate is None:
                continue
            self._told(f"{number}: {value}", self.plan)
            if self._trials.fails(candidate):
                self.plan = candidate
                return


def _size(plan: Plan) -> tuple[int, ...]:
    """Faults first: they are what has to be understood."""
    return (
        sum(isinstance(step, InjectStep) for step in plan.steps),
        len(plan.steps) + len(plan.topology.nodes) + len(plan.topics),
        len(plan.workload.producers) + len(plan.workload.consumers),
    )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _dropped(original: Plan, plan: Plan) -> Iterator[str]:
    for what, before, after in (
        ("fault", _faults(original), _faults(plan)),
        ("step", _steps(original), _steps(plan)),
        ("node", _names(original.topology.nodes), _names(plan.topology.nodes)),
        ("topic", _names(original.topics), _names(plan.topics)),
        ("producer", _names(original.workload.producers), _names(plan.workload.producers)),
        ("consumer", _names(original.workload.consumers), _names(plan.workload.consumers)),
    ):
        gone = [name for name in before if name not in after]
        if gone:
            yield f"{len(gone)} of {_many(len(before), what)}: {', '.join(gone)}"
    left = {(number.of, number.field): number.value for number in numbers(plan)}
    for number in numbers(original):
        value = left.get((number.of, number.field), number.value)
        if value != number.value:
            yield f"{number}: {value} in place of {number.value}"


def _faults(plan: Plan) -> list[str]:
    return [step.as_ for step in plan.steps if isinstance(step, InjectStep)]


def _steps(plan: Plan) -> list[str]:
    faults = _faults(plan)
    return [name for place in range(len(plan.steps)) if (name := plan.step_name(place)) not in faults]


def _names(specs: tuple[object, ...]) -> list[str]:
    return [str(getattr(spec, "name", "")) for spec in specs]
