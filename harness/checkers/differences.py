"""The listed differences of a target: which violations they explain, and which of them no longer show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fencepost.harness.checkers.check import RunCheck
from fencepost.harness.checkers.checker import Checker
from fencepost.harness.checkers.mechanisms import CUT, AffectedRange, affected_ranges, nodes_with_undated_cuts
from fencepost.harness.checkers.recorded_run import RecordedRun
from fencepost.harness.checkers.rules import judge_rules
from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict

DEVIATION = RunCheck("deviation", "A difference that the target's file lists must show, or the list is out of date.")


def attributed(run: RecordedRun, checkers: Iterable[Checker[Any, Any]], judged: list[Finding]) -> list[Finding]:
    """Attribute violations to the listed differences whose mechanism can have caused them; all others stand."""
    plan, journal, nodes = run.plan, run.journal, run.nodes
    of_records = [each for each in checkers if each.judges_records]
    for mechanism in dict.fromkeys(each.mechanism for each in plan.deviations if each.mechanism is not None):
        listed = {each.requirement: each.difference for each in plan.deviations if each.mechanism == mechanism}
        if nodes is None or not any(
            each.verdict is Verdict.VIOLATION and each.requirement in listed for each in judged
        ):
            continue
        affected = affected_ranges(mechanism, plan, journal, run.history, nodes.parent / "logs")
        rest = {each.check: each for each in judge_rules(run.without(affected), of_records)} if affected else {}
        judged = [_attributed_finding(each, listed, rest.get(each.check), affected) for each in judged]
        if mechanism == CUT and (reason := _undated_cuts(plan, journal, nodes.parent / "logs")):
            judged = [
                each.withdrawn(reason) if each.verdict is Verdict.VIOLATION and each.requirement in listed else each
                for each in judged
            ]
    return judged


def _undated_cuts(plan: Plan, journal: Journal, logs: Path) -> str:
    """Return why the times are unknown at which replicas cut their logs; empty if they are known."""
    if not logs.is_dir():
        return f"the folder {logs.name} of the run is missing, so the cuts of the nodes are unknown."
    if clock_changed := nodes_with_undated_cuts(plan, journal, logs):
        return f"the clock of {', '.join(clock_changed)} was changed, so the times of its cuts are unknown."
    return ""


def _attributed_finding(
    finding: Finding, listed: Mapping[str, str], rest: Finding | None, affected: Sequence[AffectedRange]
) -> Finding:
    """Return the finding as attributed to its listed difference.

    `rest` is the finding of the same check without the affected records. If it is a violation, it stands.
    """
    difference = None if finding.requirement is None else listed.get(finding.requirement)
    if finding.verdict is not Verdict.VIOLATION or difference is None or rest is None:
        return finding
    if rest.verdict is Verdict.VIOLATION:
        return replace(rest, message=f"{rest.message} Known differences do not explain these.")
    if rest.verdict is not Verdict.PASS:
        return rest
    how = "; ".join(dict.fromkeys(each.how for each in affected))
    message = f"{finding.message} Known as {difference}: {how}."
    return replace(finding, verdict=Verdict.PASS, difference=difference, message=message)


def listed(plan: Plan, finding: Finding) -> Finding:
    """Return a violation that is listed for the plan's target as a pass that names the difference."""
    for deviation in plan.deviations:
        if (
            finding.verdict is Verdict.VIOLATION
            and deviation.mechanism is None
            and finding.requirement == deviation.requirement
            and (deviation.says is None or deviation.says in finding.message)
            and finding.difference is None
        ):
            message = f"{finding.message} Listed for {plan.target} as {deviation.difference}."
            return replace(finding, verdict=Verdict.PASS, difference=deviation.difference, message=message)
    return finding


def missing_differences(plan: Plan, judged: Iterable[Finding], coverage: Iterable[Finding]) -> list[Finding]:
    """Return a violation for each listed difference that did not show, although the run covered it."""
    open_ = {finding.requirement for finding in judged if finding.verdict in (Verdict.VIOLATION, Verdict.INCONCLUSIVE)}
    covered = all(finding.verdict is Verdict.PASS for finding in coverage) and not any(
        finding.verdict in (Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE) for finding in judged
    )
    return [
        Finding(
            verdict=Verdict.VIOLATION if covered else Verdict.INCONCLUSIVE,
            check=DEVIATION.name,
            title="A listed difference no longer shows",
            message=f"{plan.target} is listed to break {each.requirement} here ({each.difference}); it did not.",
            requirement=each.requirement,
            level="must",
            difference=each.difference,
        )
        for each in plan.deviations
        if each.level == "must" and each.requirement not in open_
    ]
