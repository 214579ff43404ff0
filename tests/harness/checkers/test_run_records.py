"""A journal that lacks what each whole run has shows less than its run did."""

from __future__ import annotations

from typing import Any

from fencepost.harness.checkers.infrastructure import missing_records
from fencepost.harness.plan.model import Plan
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

CUT = {"do": "inject", "as": "cut", "fault": "kill", "nodes": "node-4"}
HEAL = {"do": "heal", "as": "mend", "fault": "cut"}
PHASES = ("intent", "injected", "proven", "recovering", "healed")


def cut() -> Plan:
    return plan(steps=[CUT, HEAL])


def ran(*, without: str = "", outcome: str = "done", converges: bool = True) -> JournalBuilder:
    builder = JournalBuilder()
    for phase in PHASES:
        if phase != without:
            builder.event("fault", "cut", phase, {"fault": "kill"})
    for step in ("cut", "mend"):
        if step != without:
            builder.event("step", step, "end", {"outcome": outcome})
    return builder.event("step", "end:converge", "begin", {"do": "converge"}) if converges else builder


def messages(builder: JournalBuilder) -> list[str]:
    found: list[Any] = list(missing_records(cut(), builder.journal()))
    assert all(each.verdict is Verdict.INCONCLUSIVE for each in found)
    return [each.message for each in found]


def test_a_whole_journal_lacks_nothing() -> None:
    assert messages(ran()) == []


def test_a_fault_whose_proof_or_healing_is_not_there_proves_nothing() -> None:
    assert messages(ran(without="intent")) == ["The journal does not have its intent of the fault cut."]
    assert messages(ran(without="proven")) == ["The journal does not have the proof of its effect of the fault cut."]
    assert messages(ran(without="healed")) == ["The journal does not have the proof of its healing of the fault cut."]


def test_a_step_without_an_end_was_not_done() -> None:
    assert messages(ran(without="mend")) == ["The journal does not have the end of the step mend."]


def test_what_comes_after_a_step_that_failed_and_a_run_that_was_cut_short_are_judged_by_what_is_there() -> None:
    assert messages(ran(without="mend", outcome="failed")) == []
    assert messages(ran(without="healed", converges=False)) == []
