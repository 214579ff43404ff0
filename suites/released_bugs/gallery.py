"""Runs the pairs of the gallery: each plan on the release with the bug, and on the one without it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from fencepost.harness.cli.run_display import Series
from fencepost.harness.engine.run import run
from fencepost.harness.errors import HarnessError
from fencepost.harness.plan import Plan, load_plan
from fencepost.harness.plan.hash import VERBATIM, hash_of, plain
from fencepost.harness.reproduction.signature import FailureSignature
from fencepost.results.records.verdict import Verdict
from fencepost.suites.released_bugs.bug import ReleasedBug

RESULTS = "gallery.json"

Side = Literal["affected", "fixed", "random"]
"""The bug's plan on the two releases, and the random plan that found it on the affected one."""
SIDES: tuple[Side, ...] = ("affected", "fixed")


@dataclass(frozen=True)
class SideResult:
    """The run of a plan on one release. `broken` are the rules that it broke, `plan_hash` is its digest."""

    target: str
    plan_hash: str
    folder: str
    verdict: Verdict
    headline: str
    broken: tuple[str, ...]
    seconds: float

    def shows(self, bug: ReleasedBug, side: Side) -> bool:
        """Return whether the run ended as the gallery says: red by the rule, or green."""
        if side == "fixed":
            return self.verdict is Verdict.PASS
        return self.verdict is Verdict.VIOLATION and bug.rule in self.broken

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SideResult:
        parsed = {"verdict": Verdict(value["verdict"]), "broken": tuple(value["broken"])}
        return cls(**{**value, **parsed})


class Gallery:
    """The results so far, kept in `gallery.json` in the folder of the runs: a run that is done is not repeated."""

    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self._path = runs / RESULTS
        self._results: dict[str, dict[str, SideResult]] = {}
        if self._path.is_file():
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            self._results = {
                slug: {side: SideResult.from_json(result) for side, result in sides.items()}
                for slug, sides in stored.items()
            }

    def result(self, bug: ReleasedBug, side: Side) -> SideResult | None:
        """Return the result of the present plan; None if it was not run, or has changed since."""
        result = self._results.get(bug.slug, {}).get(side)
        return result if result is not None and result.plan_hash == digest(_plan(bug, side)) else None

    def last(self, bug: ReleasedBug, side: Side) -> SideResult | None:
        """Return the last result, also if the plan has changed since."""
        return self._results.get(bug.slug, {}).get(side)

    def showed(self, bug: ReleasedBug) -> bool:
        """Return whether both last runs ended as they must."""
        results = [(side, self.last(bug, side)) for side in sides(bug)]
        return all(result is not None and result.shows(bug, side) for side, result in results)

    def shown(self, bug: ReleasedBug) -> bool:
        """Return whether both runs ended as they must."""
        results = [(side, self.result(bug, side)) for side in sides(bug)]
        return all(result is not None and result.shows(bug, side) for side, result in results)

    def run(self, bugs: Iterable[ReleasedBug], series: Series, *, again: bool = False) -> None:
        """Run what has no result yet, or did not end as it must; with `again` everything.

        Raise RunInterrupt after an interrupt: the results so far are kept.
        """
        for bug in bugs:
            for side in sides(bug):
                before = self.result(bug, side)
                if before is not None and before.shows(bug, side) and not again:
                    series.done(before.verdict, f"{bug.number} {side} {before.target} (as it was run before)")
                    continue
                series.begin(f"{bug.number} on {_target(bug, side)}")
                result = self._run(bug, side, series)
                note = "" if result.shows(bug, side) else f"  not as it must be: {result.headline}"
                rules = f" {' '.join(result.broken)}" if result.broken else ""
                series.done(result.verdict, f"{bug.number} {side} {result.target} {result.seconds:.0f} s{rules}{note}")

    def _run(self, bug: ReleasedBug, side: Side, series: Series) -> SideResult:
        plan, begun = _plan(bug, side), time.monotonic()
        try:
            folder, verdict = run(plan, self.runs, listener=series)
        except HarnessError as error:  # the release cannot be had, or does not run here
            seconds = time.monotonic() - begun
            return SideResult(plan.target, digest(plan), "", Verdict.INFRASTRUCTURE, str(error), (), seconds)
        result = SideResult(
            plan.target,
            digest(plan),
            folder.name,
            verdict.verdict,
            verdict.headline,
            tuple(sorted(FailureSignature.of(verdict).broken)),
            time.monotonic() - begun,
        )
        self.keep(bug, side, result)
        return result

    def keep(self, bug: ReleasedBug, side: Side, result: SideResult) -> None:
        """Keep a result in the file."""
        self._results.setdefault(bug.slug, {})[side] = result
        data = {slug: {side: asdict(result) for side, result in sides.items()} for slug, sides in self._results.items()}
        self._path.write_text(json.dumps(data, indent=2), encoding="utf-8")


def digest(plan: Plan) -> str:
    """Return the hash of what the plan does and claims, without further rules that name the same claims.

    A flag that is off counts as absent: one that the language of plans gains later is off in every plan until then.
    """
    steps = []
    for step in plan.steps:
        expect = getattr(step, "expect", None)
        also = None if expect is None else expect.model_copy(update={"also": ()})
        steps.append(step if also is None else step.model_copy(update={"expect": also}))
    data = _without_flags_off(plain(plan.model_copy(update={"requirements": (), "steps": tuple(steps)})))
    return hash_of(data)


def _without_flags_off(value: Any) -> Any:
    """Drop the keys whose value is false, but in what a probe sends and claims, where absent is not false."""
    if isinstance(value, dict):
        return {
            key: each if key in VERBATIM else _without_flags_off(each)
            for key, each in value.items()
            if each is not False
        }
    return [_without_flags_off(each) for each in value] if isinstance(value, list) else value


def sides(bug: ReleasedBug) -> tuple[Side, ...]:
    """Return what is run of a bug."""
    return SIDES if bug.random_plan is None else (*SIDES, "random")


def _plan(bug: ReleasedBug, side: Side) -> Plan:
    if side == "random":
        assert bug.random_plan is not None, f"no random plan found {bug.number}"
        return load_plan(bug.random_plan)
    return bug.plan(_target(bug, side))


def _target(bug: ReleasedBug, side: Side) -> str:
    return bug.fixed if side == "fixed" else bug.affected
