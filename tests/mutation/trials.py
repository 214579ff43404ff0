"""The trials: a unit test, a scenario or a campaign against nodes with a planted defect."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from fencepost.results.records.verdict import RunVerdict, Verdict
from fencepost.suites.scenario import Scenario
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts
from tests.mutants.defect import Defect
from tests.mutants.planting import VARIABLE
from tests.mutation.campaign_run import is_judged, is_red, plans_until_red
from tests.mutation.record import Outcome, Stage, Trial
from tests.mutation.suite_run import ended_runs, selection

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-m", "fencepost.harness.cli")
UNIT_TIMEOUT, SCENARIO_TIMEOUT = 900.0, 420.0
"""Seconds. A run that takes longer is ended and says nothing."""
LEAN = (
    "--assert=plain",
    *(word for name in ("xdist", "hypothesispytest", "pytest_cov", "allure_pytest") for word in ("-p", f"no:{name}")),
)
"""A test needs no plugin but that which plants the defect; the others take most of the time of such a run."""


@dataclass(frozen=True)
class Bench:
    """The place of the trials: run folders go to `runs`, and `commit` is what is tried."""

    runs: Path
    commit: str
    campaign_minutes: float = 10.0
    seed: int = 1
    workers: int = 2
    """Clusters side by side, where several scenarios are one run of the suite."""
    program: Sequence[str] = PROGRAM

    def unit(self, defect: Defect, design: str) -> Trial:
        """Run the test of the catalogue, or those of its folder until the first is red."""
        begun = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not integration", *LEAN]
        command += ["-p", "tests.mutants.planting", defect.unit]
        ended, output = _run(command, environment_with(defect), UNIT_TIMEOUT)
        red = [line for line in output.splitlines() if line.startswith(("FAILED tests/", "ERROR tests/"))]
        outcome = {0: Outcome.MISSED, 1: Outcome.CAUGHT}.get(ended, Outcome.UNJUDGED)
        test = red[0].split()[1] if red else defect.unit
        message = red[0].partition(" - ")[2] if red else output[-200:] if outcome is Outcome.UNJUDGED else ""
        return self._trial(defect, design, Stage.UNIT, test, outcome, begun, message=message)

    def scenario(self, defect: Defect, design: str, stage: Stage, slug: str) -> Trial:
        begun = time.monotonic()
        runs = self.runs / f"{defect.name}-{design}"
        command = [*PROGRAM, "run", slug, "--target", design, "--seed", str(self.seed), "--runs", str(runs), "--json"]
        before = set(runs.glob("*/verdict.json"))
        _, output = _run(command, environment_with(defect), SCENARIO_TIMEOUT)
        made = [RunVerdict.load(path) for path in set(runs.glob("*/verdict.json")) - before]
        if not made:
            return self._trial(defect, design, stage, slug, Outcome.UNJUDGED, begun, message=output.strip()[-200:])
        return self._trial(defect, design, stage, slug, _outcome(made[0]), begun, made[0])

    def suite(self, defect: Defect, design: str, stage: Stage, slugs: Sequence[str]) -> Iterator[Trial]:
        """Run these scenarios with clusters side by side until one is red; yield a trial for each that ended.

        Without a violation, a scenario that left no verdict is one more trial, which says nothing.
        """
        begun = time.monotonic()
        runs = self.runs / f"{defect.name}-{design}-suite"
        command = [*self.program, "conformance", design, "-k", selection(slugs), "--workers", str(self.workers)]
        command += ["--seed", str(self.seed), "--runs", str(runs), "--annotations", "none"]
        within = SCENARIO_TIMEOUT * (1 + len(slugs) / self.workers)
        left = dict.fromkeys(slugs)
        for verdict in ended_runs(command, runs, ROOT, environment_with(defect), within):
            left.pop(verdict.scenario, None)
            outcome = _outcome(verdict)
            trial = self._trial(defect, design, stage, verdict.scenario, outcome, begun, verdict)
            yield replace(trial, seconds=round(verdict.duration, 1))
            if outcome is Outcome.CAUGHT:
                return
        for slug in left:
            yield self._trial(defect, design, stage, slug, Outcome.UNJUDGED, begun, message="it left no verdict")

    def campaign(self, defect: Defect, design: str) -> Trial:
        """Run random plans until one is red or the time is up."""
        begun = time.monotonic()
        runs = self.runs / f"{defect.name}-{design}-campaign"
        command = [*PROGRAM, "campaign", design, "--minutes", str(self.campaign_minutes), "--workers", "1"]
        command += ["--seed", str(self.seed), "--runs", str(runs)]
        outcomes = plans_until_red(command, runs, ROOT, environment_with(defect))
        red = next(filter(is_red, outcomes), None)
        judged = [each for each in outcomes if is_judged(each)]
        outcome = Outcome.CAUGHT if red else Outcome.MISSED if judged else Outcome.UNJUDGED
        verdict = RunVerdict.load(Path(red["run"]) / "verdict.json") if red and red["run"] else None
        how = f"seed {red['seed']}" if red else f"seeds of {self.seed}"
        return self._trial(defect, design, Stage.CAMPAIGN, how, outcome, begun, verdict, plans=len(judged))

    def _trial(
        self,
        defect: Defect,
        design: str,
        stage: Stage,
        how: str,
        outcome: Outcome,
        begun: float,
        verdict: RunVerdict | None = None,
        message: str = "",
        plans: int = 0,
    ) -> Trial:
        said = message or (f"{verdict.verdict.value}: {verdict.headline}" if verdict is not None else "")
        return Trial(
            defect=defect.name,
            design=design,
            stage=stage,
            how=how,
            outcome=outcome,
            rules=broken_rules(verdict) if verdict is not None else (),
            message=in_one_line(said, self.runs),
            seconds=round(time.monotonic() - begun, 1),
            commit=self.commit,
            plans=plans,
        )


@cache
def asking(defect: Defect, design: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the scenarios that ask a rule which the defect breaks, and the rest; the likeliest and shortest first."""
    order = sorted(possible(design).values(), key=lambda each: (_place(defect, each), each.seconds))
    asked = [each.slug for each in order if each.slug in defect.scenarios or set(each.requirements) & _rules(defect)]
    return asked, [each.slug for each in order if each.slug not in asked]


@cache
def possible(design: str) -> Mapping[str, Scenario]:
    """Return the scenarios that can run on the design here, by slug."""
    facts = TargetFacts.of(design)
    return {each.slug: each for each in scenarios_for(facts) if each.unavailable_reason(facts, "process") is None}


def _rules(defect: Defect) -> set[str]:
    """Return the rules of the defect but those that every scenario asks."""
    return set(defect.rules) - {"ACK-01", "LIVE-01", "LIVE-03"}


def _place(defect: Defect, scenario: Scenario) -> int:
    return defect.scenarios.index(scenario.slug) if scenario.slug in defect.scenarios else len(defect.scenarios)


def _outcome(verdict: RunVerdict) -> Outcome:
    known = {Verdict.VIOLATION: Outcome.CAUGHT, Verdict.PASS: Outcome.MISSED}
    return known.get(verdict.verdict, Outcome.UNJUDGED)


def broken_rules(verdict: RunVerdict) -> tuple[str, ...]:
    """Return the rules of the violations, or the checks of those that name none."""
    return tuple(dict.fromkeys(each.requirement or each.check for each in verdict.of(Verdict.VIOLATION)))


def in_one_line(message: str, runs: Path) -> str:
    """Return the begin of a message, without the folder of the runs."""
    return " ".join(message.replace(f"{runs.absolute()}/", "").split())[:300]


def environment_with(defect: Defect | None) -> Mapping[str, str]:
    return {**os.environ, VARIABLE: defect.name if defect is not None else ""}


def _run(command: list[str], environment: Mapping[str, str], within: float) -> tuple[int, str]:
    """Run a command in a process group of its own; return its exit code, or -1 after `within` seconds, and output."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
    )
    try:
        output, _ = process.communicate(timeout=within)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.communicate(timeout=30.0)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            return -1, f"ended after {within:g} s"
        raise
    return process.returncode, output
