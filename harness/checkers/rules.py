"""Judge a recorded run by checkers, so that one loss is one finding, and records are shown on all replicas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from fencepost.harness.checkers.checker import Checker, Need
from fencepost.harness.checkers.loss import one_loss
from fencepost.harness.checkers.recorded_run import RecordedRun
from fencepost.results.records.verdict import Finding, Verdict


def judge_rules(run: RecordedRun, checkers: Iterable[Checker[Any, Any]]) -> list[Finding]:
    """Return the findings of the checkers that have something to judge in this run, in their order."""
    findings = []
    for each in checkers:
        missing = run.missing_logs if Need.LOGS in each.needs else ()
        findings += [run.table.show(_over_all_logs(finding, missing)) for finding in run.judged_by(each)]
    return one_loss(findings, run.history, run.replicas, run.comparison.missing)


def _over_all_logs(finding: Finding, missing: Sequence[str]) -> Finding:
    """Return a pass as inconclusive if logs are missing; a violation in the logs that are left stands."""
    if finding.verdict is not Verdict.PASS or not missing:
        return finding
    message = (
        f"The logs of {', '.join(missing)} are missing from the run folder. In those that are left: {finding.message}"
    )
    return replace(finding, verdict=Verdict.INCONCLUSIVE, message=message)
