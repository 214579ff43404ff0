"""A cluster that is not whole once everything is healed broke LIVE-01, whether the plan claimed it or not."""

from __future__ import annotations

import pytest

from fencepost.harness.checkers.convergence import check_convergence
from fencepost.harness.checkers.expectations import check
from fencepost.results.records.events import CONVERGE
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.test_expectations import Events, plan_of

SEEN = "the cluster did not converge within 50 s after healing: t-0 has leader 5 at epoch 1, ISR [5] of [4, 5]"


def healed() -> Events:
    events = Events()
    for node in ("node-4", "node-5"):
        events.add(1, "node", node, "started").add(1.5, "node", node, "ready")
    return events


def ended(events: Events, outcome: str = "missed") -> list[Finding]:
    events.add(30, "step", CONVERGE, "begin").add(80, "step", CONVERGE, "end", outcome=outcome, message=SEEN)
    assert check(plan_of(), events.journal) == []
    return check_convergence(plan_of(), events.journal)


@pytest.mark.requirement("LIVE-01")
def test_a_cluster_that_is_not_whole_in_the_end_broke_the_rule() -> None:
    [finding] = ended(healed())
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "LIVE-01")
    assert finding.message == f"Once everything was healed, {SEEN}."


def test_one_that_is_whole_or_that_was_not_waited_for_is_not_judged_here() -> None:
    assert ended(healed(), "done") == []
    assert check_convergence(plan_of(), healed().journal) == []


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        (healed().add(20, "node", "node-4", "killed"), "node-4 was not running"),
        (healed().add(20, "node", "node-4b", "started"), "a second process with the same id"),
        (healed().add(20, "fault", "e", "intent", fault="emptied", nodes=["node-4"]), "the fault e may have taken"),
        (
            healed().add(70, "state", "processor", "seen", "node-4", what="processor", seconds=40.0, waited=30.0),
            "waited for a processor",
        ),
    ],
)
def test_what_may_keep_a_cluster_from_becoming_whole_excuses_it(events: Events, reason: str) -> None:
    [finding] = ended(events)
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert reason in finding.message


def test_faults_after_which_each_node_knows_what_it_knew_excuse_nothing() -> None:
    killed = healed().add(5, "fault", "k", "intent", fault="kill", nodes=["node-4"]).add(6, "node", "node-4", "killed")
    [finding] = ended(killed.add(7, "node", "node-4", "started").add(8, "node", "node-4", "ready"))
    assert finding.verdict is Verdict.VIOLATION
