"""Earlier runs of the scenarios of a suite, and since when one of them fails."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.report.suite_results import ScenarioResult, SuiteResult, earlier_suites
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import Verdict


@dataclass(frozen=True)
class PastRun:
    """An earlier run of a scenario. `started` is in unix seconds, `run` is the name of its folder.

    `commit` is that of the target, or else of the repository whose CI job it was; empty if neither is known.
    """

    scenario: str
    target: str
    target_version: str
    backend: str
    started: float
    verdict: Verdict
    run: str
    commit: str = ""


def past_runs(runs: Path) -> list[PastRun]:
    """Return the runs that the folders in `runs` know of, the oldest first; those with a planted defect do not count.

    They are the run folders and the results of earlier suites, whose own run folders may be gone: a CI job that keeps
    the small `suite-*` folders keeps its history.
    """
    by_folder = {each.run: each for suite in earlier_suites(runs) for each in _of_suite(suite)}
    for path in runs.glob("*/manifest.json"):
        run = _of_folder(path.parent)
        if run is not None:
            by_folder[run.run] = run
    return sorted(by_folder.values(), key=lambda each: (each.started, each.run))


def since(result: ScenarioResult, suite: SuiteResult, past: Iterable[PastRun]) -> str:
    """Return since when the scenario fails: when it passed last, and how many runs failed after that.

    Only runs on the same target and backend count, whatever their version and seed. A run with a third verdict neither
    begins nor ends a series: one that was interrupted says nothing about a violation.
    """
    here = (result.scenario, suite.target, suite.backend)
    earlier = [
        each
        for each in past
        if (each.scenario, each.target, each.backend) == here
        and each.verdict in (Verdict.PASS, result.verdict)
        and each.started < suite.started
        and each.run != Path(result.run or "").name
    ]
    if not earlier:
        return f"unknown, no earlier run on {suite.target} is known here"
    failed = _failed_last(earlier)
    if not failed:
        return f"new, it passed in the run before ({_named(earlier[-1])})"
    first = f"{_named(failed[0])}, in {len(failed) + 1} runs"
    if len(failed) == len(earlier):
        return f"at least {first}; no run that passed is known here"
    return f"{first}; it passed last at {_named(earlier[-len(failed) - 1])}"


def _failed_last(earlier: Sequence[PastRun]) -> Sequence[PastRun]:
    """Return the runs after the last one that passed."""
    passed = [place for place, each in enumerate(earlier) if each.verdict is Verdict.PASS]
    return earlier[passed[-1] + 1 :] if passed else earlier


def _named(run: PastRun) -> str:
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.started))
    commit = f", commit {run.commit[:12]}" if run.commit else ""
    return f"{when}, version {run.target_version}{commit}, {run.verdict.value}"


def _of_suite(suite: SuiteResult) -> Iterable[PastRun]:
    for scenario in suite.scenarios:
        if scenario.verdict is not None and scenario.run is not None and not scenario.planted_defect:
            yield PastRun(
                *(scenario.scenario, suite.target, suite.target_version, suite.backend, suite.started),
                verdict=scenario.verdict,
                run=Path(scenario.run).name,
                commit=scenario.target_commit or suite.ci.get("commit", ""),
            )


def _of_folder(path: Path) -> PastRun | None:
    folder = RunFolder(path)
    manifest = folder.try_manifest()
    verdict = folder.try_verdict() if manifest is not None else None
    if manifest is None or verdict is None or verdict.planted_defect:
        return None
    return PastRun(
        *(manifest.scenario, manifest.target, manifest.target_version, manifest.backend, manifest.started),
        verdict=verdict.verdict,
        run=path.name,
        commit=manifest.target_commit or manifest.ci.get("commit", ""),
    )
