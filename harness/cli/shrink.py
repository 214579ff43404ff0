"""`fencepost shrink`: the search for the smallest plan that still fails, as a terminal shows it."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from fencepost.harness.backends import check_backend
from fencepost.harness.cli.commands.runs import ShrinkOptions
from fencepost.harness.cli.eta import duration
from fencepost.harness.cli.run_display import Series, show_verdict
from fencepost.harness.disk_space import check_disk_space
from fencepost.harness.engine.chained import run_after
from fencepost.harness.engine.living import same_nodes, save_plans
from fencepost.harness.engine.run import RunInterrupt, run
from fencepost.harness.errors import HarnessError, UsageError
from fencepost.harness.plan import PlanError, dump_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.reproduction.replaying import Original, chain_beside
from fencepost.harness.reproduction.shrink.ddmin import ddmin, one_by_one
from fencepost.harness.reproduction.shrink.parts import named
from fencepost.harness.reproduction.shrink.search import ShrinkResult
from fencepost.harness.reproduction.shrink.search import shrink as search
from fencepost.harness.reproduction.shrink.trials import OutOfTime, TrialOutcome, Trials
from fencepost.harness.reproduction.signature import FailureSignature
from fencepost.harness.targets.reference import plant_again, with_defect
from fencepost.harness.terminal import console_beside, counted
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.verdict import Verdict

NOT_FAILING = 3
"""Exit code if the original plan does not fail at the rate, as for `inconclusive`."""


@dataclass(frozen=True)
class ShrinkOrder:
    """The run or plan to shrink, and how."""

    original: Original
    options: ShrinkOptions

    @property
    def backend(self) -> str:
        return self.options.backend or self.original.backend or "process"

    @property
    def file(self) -> Path:
        """The file for the smallest plan."""
        source = self.original.source
        name = source.stem if source.is_file() else source.resolve().name
        return self.options.out or source.resolve().parent / f"{name}-shrunk.yaml"

    @property
    def candidates(self) -> Path:
        """The folder for the runs of candidates."""
        return self.file.with_suffix(".runs")


def shrink(options: ShrinkOptions) -> int:
    """Search the smallest plan that still fails, write it, and return the exit code.

    UsageError if the run did not fail, or broke none of the rules that were named.
    """
    original = Original.read(options.source)
    order = ShrinkOrder(original, options)
    console = console_beside(options.as_json)
    if defect := plant_again(original.planted_defect):
        console.print(f"{'planted':<15}{defect}")
    try:
        return _search(order, console)
    except RunInterrupt as interrupted:
        show_verdict(console, interrupted.folder, interrupted.verdict)
        return interrupted.verdict.verdict.exit_code


def _search(order: ShrinkOrder, console: Console) -> int:
    began = time.monotonic()
    options = order.options
    check_backend(order.backend)
    check_disk_space(order.candidates)
    order.file.parent.mkdir(parents=True, exist_ok=True)
    with Series(console) as series:
        candidates = Candidates(order, series)
        failure = candidates.failure()
        console.print(
            f"{'wanted':<15}{failure}, in {options.rate:.0%} of {options.times} runs, for {options.minutes:g} min"
        )
        chains = Chains(candidates, order, began + options.minutes * 60)
        chain: tuple[Plan, ...] = order.original.chain
        trials = chains.trials(chain)
        try:
            chain = chains.shortest()
            trials = chains.trials(chain)
            found = search(order.original.plan, trials, candidates.reported)
        except OutOfTime:
            found = None
    if found is None:
        console.print(f"{'':<15}{_not_failing(order, trials)}")
        return NOT_FAILING
    order.file.write_text(dump_plan(found.plan), encoding="utf-8")
    shutil.rmtree(chain_beside(order.file), ignore_errors=True)
    save_plans(chain_beside(order.file), chain)
    if order.original.chain:
        plans = counted(len(order.original.chain), "plan")
        console.print(f"{'before it':<15}{len(chain)} of {plans} on the same cluster have to run")
    if candidates.stopped is not None:
        console.print(f"{'stopped':<15}{candidates.stopped}", soft_wrap=True, markup=False)
    if options.as_json:
        print(json.dumps(_as_data(found, order, failure, time.monotonic() - began), indent=2))
    else:
        for line in _described(found, order, time.monotonic() - began):
            console.print(line, soft_wrap=True, markup=False)
    return 0


class Chains:
    """The trials of a plan after other plans on the same cluster."""

    def __init__(self, candidates: Candidates, order: ShrinkOrder, deadline: float) -> None:
        self._candidates = candidates
        self._order = order
        self._deadline = deadline
        self._trials: dict[tuple[str, ...], Trials] = {}

    def trials(self, chain: tuple[Plan, ...]) -> Trials:
        """Return the trials of plans that run after these."""
        key = tuple(map(plan_hash, chain))
        if key not in self._trials:
            options = self._order.options
            run_one = partial(self._candidates.run, chain=chain)
            self._trials[key] = Trials(run_one, options.times, options.rate, self._deadline)
        return self._trials[key]

    def shortest(self) -> tuple[Plan, ...]:
        """Return the fewest plans of the original chain after which the plan still fails; all if it does not."""
        plan, chain = named(self._order.original.plan), self._order.original.chain
        self._candidates.reported(f"the plan after {len(chain)} others", plan)
        if not chain or not self.trials(chain).fails(plan):
            return chain

        def fails(some: tuple[Plan, ...]) -> bool:
            self._candidates.reported(f"the plan after {len(some)} of {len(chain)} others", plan)
            return self.trials(some).fails(plan)

        return ddmin(chain, one_by_one(fails))


class Candidates:
    """Runs plans on real clusters, each in its own folder. The folder of a plan that did not fail is removed."""

    def __init__(self, order: ShrinkOrder, series: Series) -> None:
        self._order = order
        self._series = series
        self._failure: FailureSignature | None = None
        self._next = ""
        self._runs = 0
        self.stopped: str | None = None
        """The reason why no further candidate could be run."""

    def failure(self) -> FailureSignature:
        """Return what counts as failing: the failure of the original, or of one run now if that is not known."""
        known = self._order.original.failure
        if known is None:
            if self._order.original.source.is_dir():
                raise UsageError(
                    f"{self._order.original.source} did not fail: there is nothing to shrink; name a run that failed"
                )
            self._series.begin("finding out how the plan fails")
            folder, verdict = run(self._order.original.plan, self._order.candidates, self._order.backend)
            known = FailureSignature.of(verdict)
            if known.verdict is not Verdict.VIOLATION:
                raise UsageError(f"{self._order.original.source} does not fail: it is {known}, see {folder.path}")
        if self._order.options.rule:
            wanted = frozenset(self._order.options.rule)
            if not known.broken & wanted:
                raise UsageError(f"the run broke none of {', '.join(sorted(wanted))}; it was {known}")
            known = known.only(wanted)
        self._failure = known
        return known

    def reported(self, what: str, best: Plan) -> None:
        """Note the smallest plan so far, and what is tried next."""
        faults = sum(isinstance(step, InjectStep) for step in best.steps)
        self._next = f"{faults} faults, {len(best.steps)} steps, {len(best.topology.nodes)} nodes · trying {what}"

    def run(self, plan: Plan, chain: tuple[Plan, ...] = ()) -> TrialOutcome:
        """Run one candidate. OutOfTime after Ctrl-C, or if the disk is full: the smallest plan so far is the result.

        A plan of the chain that does not pass says nothing about the candidate.
        """
        if chain and not same_nodes(plan, chain[0]):
            return TrialOutcome.OTHER
        self._series.begin(self._next)
        assert self._failure is not None
        before: list[RunFolder] = []
        try:
            run_one = partial(run_after, chain, passed=before.append) if chain else run
            folder, verdict = run_one(plan, self._order.candidates, self._order.backend, listener=self._series)
            signature = FailureSignature.of(verdict)
            all_ran = len(before) == len(chain)
            failed = all_ran and self._failure.shows_in(signature)
            for each in before if failed else [*before, folder]:
                shutil.rmtree(each.path, ignore_errors=True)
        except KeyboardInterrupt:
            raise OutOfTime from None
        except PlanError:  # with these parts dropped it is no plan for this target
            return TrialOutcome.OTHER
        except HarnessError as error:
            if not self._runs:
                raise
            self.stopped = str(error)
            raise OutOfTime from error
        self._runs += 1
        self._series.done(verdict.verdict, f"{self._next}: {'fails' if failed else 'does not fail'}")
        if (verdict.verdict is Verdict.INFRASTRUCTURE and not failed) or not all_ran:
            return TrialOutcome.NOTHING
        return TrialOutcome.FAILED if failed else TrialOutcome.OTHER


def _not_failing(order: ShrinkOrder, trials: Trials) -> str:
    seen = next(iter(trials.counts.values()), None)
    if seen is None:
        return "The time was up before it was clear whether the original plan fails: raise --minutes."
    return (
        f"The plan failed in {seen.failed} of {seen.runs} runs; {trials.needed} of {order.options.times} have to fail: "
        "lower --rate, or raise --times."
    )


def _described(found: ShrinkResult, order: ShrinkOrder, seconds: float) -> list[str]:
    end = "nothing more can be dropped" if found.complete else "ended before all was tried; a smaller plan may exist"
    lines = [f"{'dropped':<15}{line}" for line in found.dropped] or [f"{'dropped':<15}nothing"]
    left = ", ".join(f"{step.as_} ({step.fault})" for step in found.plan.steps if isinstance(step, InjectStep))
    return [
        *lines,
        f"{'left':<15}{left or 'no fault'}; {len(found.plan.steps)} steps, {len(found.plan.topology.nodes)} nodes",
        f"{'fails':<15}{found.count.failed} of {found.count.runs}; {end}",
        f"{'took':<15}{found.candidates} plans, {found.runs} runs, {duration(seconds)}",
        f"{'again':<15}{with_defect(replay_command(order.file))} --times 20",
    ]


def _as_data(found: ShrinkResult, order: ShrinkOrder, failure: FailureSignature, seconds: float) -> dict[str, Any]:
    return {
        "format": "fencepost-shrink/1",
        "of": str(order.original.source),
        "failure": failure.to_json(),
        "plan": str(order.file),
        "failed": found.count.failed,
        "runs_of_it": found.count.runs,
        "rate": order.options.rate,
        "complete": found.complete,
        "dropped": list(found.dropped),
        "candidates": found.candidates,
        "runs": found.runs,
        "seconds": round(seconds, 1),
        "replay": with_defect(replay_command(order.file)),
    }
