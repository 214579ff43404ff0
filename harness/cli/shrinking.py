"""`fencepost shrink` on a terminal: what is tried, what it came to, what was dropped."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.backends import check_backend
from harness.cli.display import duration
from harness.cli.series import Series
from harness.errors import HarnessError, UsageError
from harness.plan import PlanError, dump_plan
from harness.plan.injects import InjectStep
from harness.plan.model import Plan
from harness.reproduction.command import replay_command
from harness.reproduction.replaying import Original
from harness.reproduction.shrink.search import Shrunk
from harness.reproduction.shrink.search import shrink as search
from harness.reproduction.shrink.trials import Outcome, OutOfTime, Trials
from harness.reproduction.signature import Signature
from harness.room import check_room
from harness.run import run
from results.records.verdict import Verdict

NOT_FAILING = 3
"""Exit code, as of `inconclusive`: nothing can be said of what does not show."""


@dataclass(frozen=True)
class Order:
    """What was asked for."""

    original: Original
    times: int
    rate: float
    minutes: float
    rules: tuple[str, ...]
    backend: str
    out: Path | None

    @property
    def file(self) -> Path:
        """Where the smallest plan goes."""
        source = self.original.source
        name = source.stem if source.is_file() else source.resolve().name
        return self.out or source.resolve().parent / f"{name}-shrunk.yaml"

    @property
    def candidates(self) -> Path:
        """Where the runs of candidates go."""
        return self.file.with_suffix(".runs")


def shrink(order: Order, console: Console, as_json: bool) -> int:
    """The exit code. UsageError if the run did not fail, or its failure broke none of the rules asked for."""
    began = time.monotonic()
    check_backend(order.backend)
    check_room(order.candidates)
    order.file.parent.mkdir(parents=True, exist_ok=True)
    with Series(console) as series:
        candidates = Candidates(order, series)
        failure = candidates.failure()
        console.print(f"{'wanted':<15}{failure}, in {order.rate:.0%} of {order.times} runs, for {order.minutes:g} min")
        trials = Trials(candidates.run, order.times, order.rate, began + order.minutes * 60)
        try:
            found = search(order.original.plan, trials, candidates.told)
        except OutOfTime:
            found = None
    if found is None:
        console.print(f"{'':<15}{_not_failing(order, trials)}")
        return NOT_FAILING
    order.file.write_text(dump_plan(found.plan), encoding="utf-8")
    if candidates.stopped is not None:
        console.print(f"{'stopped':<15}{candidates.stopped}", soft_wrap=True, markup=False)
    if as_json:
        print(json.dumps(_as_data(found, order, failure, time.monotonic() - began), indent=2))
    else:
        for line in _told(found, order, time.monotonic() - began):
            console.print(line, soft_wrap=True, markup=False)
    return 0


class Candidates:
    """Runs plans on real clusters, each in a folder of its own; that of a plan which did not fail is removed."""

    def __init__(self, order: Order, series: Series) -> None:
        self._order = order
        self._series = series
        self._failure: Signature | None = None
        self._next = ""
        self._runs = 0
        self.stopped: str | None = None
        """Why no further candidate could be run."""

    def failure(self) -> Signature:
        """What counts as failing: as the original did; where nobody knows how that was, as it does now."""
        known = self._order.original.failure
        if known is None:
            if self._order.original.source.is_dir():
                raise UsageError(f"{self._order.original.source} did not fail: there is nothing to shrink")
            self._series.begin("how the plan fails")
            folder, verdict = run(self._order.original.plan, self._order.candidates, self._order.backend)
            known = Signature.of(verdict)
            if known.verdict is not Verdict.VIOLATION:
                raise UsageError(f"{self._order.original.source} does not fail: it is {known}, see {folder.path}")
        if self._order.rules:
            wanted = frozenset(self._order.rules)
            if not known.broken & wanted:
                raise UsageError(f"the run broke none of {', '.join(sorted(wanted))}; it was {known}")
            known = known.only(wanted)
        self._failure = known
        return known

    def told(self, what: str, best: Plan) -> None:
        faults = sum(isinstance(step, InjectStep) for step in best.steps)
        self._next = f"{faults} faults, {len(best.steps)} steps, {len(best.topology.nodes)} nodes · trying {what}"

    def run(self, plan: Plan) -> Outcome:
        """OutOfTime if somebody interrupts, or if the disk gives out: what was found by then is the result."""
        self._series.begin(self._next)
        assert self._failure is not None
        try:
            folder, verdict = run(plan, self._order.candidates, self._order.backend, watch=self._series)
            signature = Signature.of(verdict)
            failed = self._failure.shows_in(signature)
            if not failed:
                shutil.rmtree(folder.path, ignore_errors=True)
        except KeyboardInterrupt:
            raise OutOfTime from None
        except PlanError:  # what is left of it is no plan for this target
            return Outcome.OTHER
        except HarnessError as error:
            if not self._runs:
                raise
            self.stopped = str(error)
            raise OutOfTime from error
        self._runs += 1
        self._series.done(verdict.verdict, f"{self._next}: {'fails' if failed else 'does not fail'}")
        if verdict.verdict is Verdict.INFRASTRUCTURE and not failed:
            return Outcome.NOTHING
        return Outcome.FAILED if failed else Outcome.OTHER


def _not_failing(order: Order, trials: Trials) -> str:
    seen = next(iter(trials.counts.values()), None)
    if seen is None:
        return "The time was up before it could be said whether the plan itself fails."
    return (
        f"The plan failed in {seen.failed} of {seen.runs} runs, and {trials.needed} of {order.times} were asked for: "
        "a lower --rate, or more --times, finds out more."
    )


def _told(found: Shrunk, order: Order, seconds: float) -> list[str]:
    end = "nothing more can be dropped" if found.complete else "ended before all was tried: there may be smaller ones"
    lines = [f"{'dropped':<15}{line}" for line in found.dropped] or [f"{'dropped':<15}nothing"]
    left = ", ".join(f"{step.as_} ({step.fault})" for step in found.plan.steps if isinstance(step, InjectStep))
    return [
        *lines,
        f"{'left':<15}{left or 'no fault'}; {len(found.plan.steps)} steps, {len(found.plan.topology.nodes)} nodes",
        f"{'fails':<15}{found.count.failed} of {found.count.runs}; {end}",
        f"{'took':<15}{found.candidates} plans, {found.runs} runs, {duration(seconds)}",
        f"{'again':<15}{replay_command(order.file)} --times 20",
    ]


def _as_data(found: Shrunk, order: Order, failure: Signature, seconds: float) -> dict[str, Any]:
    return {
        "format": "fencepost-shrink/1",
        "of": str(order.original.source),
        "failure": failure.to_json(),
        "plan": str(order.file),
        "failed": found.count.failed,
        "runs_of_it": found.count.runs,
        "rate": order.rate,
        "complete": found.complete,
        "dropped": list(found.dropped),
        "candidates": found.candidates,
        "runs": found.runs,
        "seconds": round(seconds, 1),
        "replay": replay_command(order.file),
    }
