"""The violation that decides a run before its end: nothing that its later steps show takes it back.

Once one claim is broken in its own right, the verdict is a violation whatever follows. Not decided is a claim

- that a listed difference of the target, or a known bug of its release, explains;
- whose answers are not all there yet;
- that was missed while a node lacked a processor, or after the machinery, a fault or a client failed.
"""

from __future__ import annotations

from fencepost.harness.checkers.doubts import doubts_so_far, withdrawn
from fencepost.harness.checkers.expectations import check_expectations
from fencepost.harness.checkers.infrastructure import UNFINISHED, infrastructure_failures
from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding, Verdict


def deciding_violation(plan: Plan, journal: Journal) -> Finding | None:
    """Return the first claim of a step that is broken for certain, by the journal so far; None without one. Linear."""
    failures = [each for each in infrastructure_failures(journal) if each.check != UNFINISHED.name]
    doubts = list(doubts_so_far(plan, journal, failures))
    listed = {each.requirement for each in plan.deviations}
    unanswered = _steps_without_all_answers(journal)
    for finding in check_expectations(plan, journal):
        if withdrawn(finding, doubts).verdict is not Verdict.VIOLATION or finding.requirement in listed:
            continue
        if finding.evidence["step"] not in unanswered:
            return finding
    return None


def _steps_without_all_answers(journal: Journal) -> frozenset[str]:
    """Return the steps of which a request is under way; the judge takes it for one without an answer."""
    answered = {event.id for event in journal.of("op", "ok", "fail", "info")}
    return frozenset(
        str(event.data.get("step", event.data.get("process")))
        for event in journal.of("op", "invoke")
        if event.id not in answered
    )
