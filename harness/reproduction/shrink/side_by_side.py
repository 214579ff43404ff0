"""Trials of several plans at once, with the result of trials one after the other.

The slots take the runs whose results are most likely to be needed. The next run of the first undecided plan always is.
A later plan is only asked for if those before it do not fail, and a further run of a plan only if those under way do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.harness.reproduction.shrink.trials import Count, OutOfTime, TrialOutcome, Trials

AGAIN = 0.9
"""The chance that a plan that failed fails in its next run."""


@dataclass
class _Tally:
    """The runs of a plan: those that are over, those under way, and whether one without a result was repeated."""

    failed: int = 0
    done: int = 0
    under_way: int = 0
    repeated: bool = False


@dataclass
class TrialsSideBySide(Trials):
    """Trials with up to `slots` runs at once: `run` is called in so many threads. A context; it ends with its runs."""

    slots: int = 1
    _tallies: dict[str, _Tally] = field(default_factory=dict)
    _running: dict[Future[TrialOutcome], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.slots)

    def __enter__(self) -> TrialsSideBySide:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def fails(self, plan: Plan) -> bool:
        return self.first([plan], lambda place: None) is not None

    def first(self, plans: Sequence[Plan], trying: Callable[[int], None]) -> int | None:
        names = [plan_hash(plan) for plan in plans]
        while True:
            undecided = [place for place, name in enumerate(names) if name not in self.counts]
            failing = next((place for place, name in enumerate(names) if self._fails(name)), len(names))
            if not undecided or undecided[0] > failing:
                return failing if failing < len(names) else None
            while len(self._running) < self.slots:
                place = self._most_needed([(each, names[each]) for each in undecided if each < failing])
                if place is None:
                    break
                if self.clock() >= self.deadline:
                    raise OutOfTime
                trying(place)
                self._tally(names[place]).under_way += 1
                self._running[self._pool.submit(self.run, plans[place])] = names[place]
                self.runs += 1
            for each in wait(self._running, return_when=FIRST_COMPLETED).done:
                self._count_run(self._running.pop(each), each.result())

    def _tally(self, name: str) -> _Tally:
        return self._tallies.setdefault(name, _Tally())

    def _fails(self, name: str) -> bool:
        return name in self.counts and self.counts[name].failed >= self.needed

    def _most_needed(self, undecided: Sequence[tuple[int, str]]) -> int | None:
        """Return the place of the plan whose next run is needed most likely; None if no further run is."""
        return -max(needs)[1] if (needs := list(self._needs(undecided))) else None

    def _needs(self, undecided: Sequence[tuple[int, str]]) -> Iterator[tuple[float, int]]:
        """Yield how likely the next run of each plan is needed, with its place below zero: of equals the first wins."""
        usual = (1 + sum(map(self._fails, self.counts))) / (2 + len(self.counts))
        reached = 1.0
        for place, name in undecided:
            tally = self._tally(name)
            fails = AGAIN if tally.failed else usual
            if tally.failed + tally.under_way < self.needed:
                yield reached * (fails if tally.under_way else 1.0), -place
            reached *= 1 - fails

    def _count_run(self, name: str, outcome: TrialOutcome) -> None:
        tally = self._tally(name)
        tally.under_way -= 1
        if outcome is TrialOutcome.NOTHING and not tally.repeated:
            tally.repeated = True
            return
        tally.done += 1
        tally.failed += outcome is TrialOutcome.FAILED
        if tally.failed >= self.needed or tally.failed + self.times - tally.done < self.needed:
            self.counts.setdefault(name, Count(tally.failed, tally.done))
