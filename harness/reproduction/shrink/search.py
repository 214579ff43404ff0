"""The search from a failing plan to the smallest plan that still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.reproduction.shrink.ddmin import ddmin
from fencepost.harness.reproduction.shrink.numbers import Number, numbers, with_number
from fencepost.harness.reproduction.shrink.parts import Part, PartKind, named, parts, without
from fencepost.harness.reproduction.shrink.trials import Count, OutOfTime, Trials

PASSES = 4
"""Passes over all parts: a part may become unnecessary once another is dropped; seldom more than two are needed."""


@dataclass(frozen=True)
class ShrinkResult:
    """The smallest plan found. `complete`: nothing more can be dropped; otherwise the time was up.

    `count`: the failures and runs of the smallest plan.
    """

    original: Plan
    plan: Plan
    count: Count
    runs: int
    candidates: int
    complete: bool

    @property
    def dropped(self) -> tuple[str, ...]:
        """The parts that the smallest plan does without, in words."""
        return tuple(_dropped(self.original, self.plan))


def shrink(
    plan: Plan, trials: Trials, on_trial: Callable[[str, Plan], None] = lambda what, plan: None
) -> ShrinkResult | None:
    """Search the smallest plan; None if the plan itself does not fail at the rate. OutOfTime if that stays unknown.

    `on_trial(what, plan)` is called before each trial with what is tried and the smallest plan so far.
    """
    original = named(plan)
    on_trial("the plan itself", original)
    if not trials.fails(original):
        return None
    search = _Search(original, trials, on_trial)
    complete = False
    with suppress(OutOfTime):
        complete = search.run()
    return ShrinkResult(original, search.plan, trials.of(search.plan), trials.runs, len(trials.counts), complete)


class _Search:
    """A search. `plan` is the smallest plan so far, also after OutOfTime."""

    def __init__(self, plan: Plan, trials: Trials, on_trial: Callable[[str, Plan], None]) -> None:
        self.plan = plan
        self._trials = trials
        self._on_trial = on_trial

    def run(self) -> bool:
        """Search until nothing more can be dropped, and return True; False after PASSES passes."""
        for _ in range(PASSES):
            before = self.plan
            for kind in PartKind:
                self._drop(kind)
            for number in list(numbers(self.plan)):
                self._lessen(number)
            if self.plan == before:
                return True
        return False

    def _drop(self, kind: PartKind) -> None:
        whole, everything = self.plan, parts(self.plan, kind)

        def first_failing(subsets: Sequence[tuple[Part, ...]]) -> tuple[Part, ...] | None:
            left = ((kept, without(whole, [part for part in everything if part not in kept])) for kept in subsets)
            tried = [(kept, candidate) for kept, candidate in left if candidate is not None and candidate != whole]
            names = [f"{len(kept)} of {_many(len(everything), kind.value)}" for kept, _ in tried]
            place = self._first([candidate for _, candidate in tried], names)
            if place is None:
                return None
            kept, candidate = tried[place]
            if _size(candidate) < _size(self.plan):
                self.plan = candidate
            return kept

        ddmin(everything, first_failing)

    def _lessen(self, number: Number) -> None:
        smaller = ((value, with_number(self.plan, number, value)) for value in number.smaller())
        tried = [(value, candidate) for value, candidate in smaller if candidate is not None]
        candidates = [candidate for _, candidate in tried]
        if (place := self._first(candidates, [f"{number}: {value}" for value, _ in tried])) is not None:
            self.plan = candidates[place]

    def _first(self, candidates: Sequence[Plan], names: Sequence[str]) -> int | None:
        return self._trials.first(candidates, lambda place: self._on_trial(names[place], self.plan))


def _size(plan: Plan) -> tuple[int, ...]:
    """Return the size of a plan; the number of faults counts first, because a reader has to understand them."""
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
    values = {(number.of, number.field): number.value for number in numbers(plan)}
    for number in numbers(original):
        value = values.get((number.of, number.field), number.value)
        if value != number.value:
            yield f"{number}: {value} instead of {number.value}"


def _faults(plan: Plan) -> list[str]:
    return [step.as_ for step in plan.steps if isinstance(step, InjectStep)]


def _steps(plan: Plan) -> list[str]:
    faults = _faults(plan)
    return [name for place in range(len(plan.steps)) if (name := plan.step_name(place)) not in faults]


def _names(specs: tuple[object, ...]) -> list[str]:
    return [str(getattr(spec, "name", "")) for spec in specs]
