"""A run is decided by a claim that nothing can take back; all that could still excuse it leaves the run open."""

from __future__ import annotations

import pytest

from fencepost.harness.checkers.decided import deciding_violation
from fencepost.harness.checkers.expectations import check
from fencepost.harness.checkers.infrastructure import missing_records
from fencepost.harness.plan.base import Expect, ExpectOutcome, KnownBug, Level
from fencepost.harness.plan.conditions.broker_fenced import BrokerFenced
from fencepost.harness.plan.model import Deviation, Plan
from fencepost.harness.plan.requests.metadata import MetadataProbe
from fencepost.results.records.events import CONVERGE, ENDED_EARLY, HANGS, INFRASTRUCTURE
from fencepost.results.records.requirements import RequirementState
from fencepost.results.records.verdict import Verdict, requirement_states
from tests.harness.checkers.test_expectations import Events, ask, plan_of

MUST = Expect(level=Level.MUST, requirement="K1")
WAIT = BrokerFenced(as_="wait", node="node-4", within_ms=3000, expect=MUST)
LATER = BrokerFenced(
    as_="later", node="node-4", within_ms=3000, expect=Expect(level=Level.NEVER, requirement="K2", also=("K3",))
)


def deciding(plan: Plan, events: Events) -> str | None:
    finding = deciding_violation(plan, events.journal)
    return None if finding is None else str(finding.evidence["step"])


def waited() -> Events:
    events = Events().add(1.0, "step", "wait", "begin")
    return events.add(4.0, "step", "wait", "end", outcome="missed", message="node-4 is not fenced")


def test_an_owed_condition_that_did_not_come_and_an_answer_against_its_claim_decide() -> None:
    assert deciding(plan_of(WAIT, LATER), waited()) == "wait"
    assert deciding(plan_of(ask(Level.MUST, "error:77"), LATER), Events().probe(1.0, "ask", "served")) == "ask"
    assert deciding(plan_of(ask(Level.NEVER, "served"), LATER), Events().probe(1.0, "ask", "served")) == "ask"
    changed = Events().probe(1.0, "ask", "refused", 77, changed={"t-0": [[4, 1], [5, 2]]})
    assert deciding(plan_of(ask(Level.MUST, "error:77", unchanged=("t-0",)), LATER), changed) == "ask"
    came = Events().add(1.0, "step", "later", "end", outcome="done")
    assert deciding(plan_of(LATER, WAIT), came) == "later"


def test_steps_that_are_not_tried_yet_decide_nothing() -> None:
    assert deciding(plan_of(WAIT, ask(Level.MUST, "served")), Events()) is None


def test_a_request_that_is_under_way_is_not_one_without_an_answer() -> None:
    events = Events().add(1.0, "op", "probe-ask-0", "invoke", "node-4", f="probe", step="ask")
    assert deciding(plan_of(ask(Level.MUST, "served", background=True)), events) is None


def test_a_difference_that_the_target_lists_decides_nothing() -> None:
    shown = plan_of(ask(Level.MUST, "served", difference="AK-03"), LATER)
    assert deciding(shown, Events().probe(1.0, "ask", "served")) is None
    for level in ("may", "must"):
        listed = Deviation.model_validate({"difference": "AK-03", "requirement": "K1", "level": level})
        plan = plan_of(WAIT, LATER).model_copy(update={"deviations": (listed,)})
        assert deciding(plan, waited()) is None


def test_a_known_bug_of_the_release_decides_nothing() -> None:
    bug = KnownBug(id="KAFKA-1", outcome="error:-1")
    expect = ExpectOutcome(level=Level.MUST, outcome="served", requirement="K1", known_bug=bug)
    plan = plan_of(MetadataProbe(as_="ask", node="node-4", expect=expect), LATER)
    assert deciding(plan, Events().probe(1.0, "ask", "refused", -1)) is None
    assert deciding(plan, Events().probe(1.0, "ask", "refused", 41)) == "ask"


def test_a_timeout_of_a_node_without_a_processor_decides_nothing() -> None:
    events = Events().add(1.0, "step", "wait", "begin")
    events.add(3.0, "state", "processor", "seen", "node-4", what="processor", waited=1.2, seconds=2.0)
    events.add(4.0, "step", "wait", "end", outcome="missed", message="node-4 is not fenced")
    assert deciding(plan_of(WAIT, LATER), events) is None


@pytest.mark.parametrize("what", [INFRASTRUCTURE, HANGS])
def test_a_failure_of_the_machinery_leaves_the_run_open(what: str) -> None:
    events = Events().add(0.5, "note", "note", "seen", what=what, message="Toxiproxy ended", seconds=0.2)
    assert deciding(plan_of(WAIT, LATER), Events([*events, *waited()])) is None


def test_a_fault_that_is_active_leaves_its_violation_certain_and_one_without_proof_does_not() -> None:
    active = Events().add(0.5, "fault", "cut", "intent").add(0.6, "fault", "cut", "injected").proven(0.7)
    assert deciding(plan_of(WAIT, LATER), Events([*active, *waited()])) == "wait"
    without = Events().add(0.5, "fault", "cut", "intent").add(0.7, "fault", "cut", "unproven", missed="it serves")
    assert deciding(plan_of(WAIT, LATER), Events([*without, *waited()])) is None


def ended() -> Events:
    """The run is ended once `wait` was missed: `later` and `ask` are not tried."""
    untried = ["later", "ask"]
    return waited().add(4.1, "note", "ended-early", "seen", what=ENDED_EARLY, step="wait", untried=untried)


def test_claims_of_steps_that_were_not_tried_are_neither_held_nor_broken() -> None:
    plan = plan_of(WAIT, LATER, ask(Level.MUST, "served"))
    findings = check(plan, ended().journal)
    assert Verdict.worst(each.verdict for each in findings) is Verdict.VIOLATION
    untried = [each for each in findings if each.evidence.get("step") in ("later", "ask")]
    assert [each.verdict for each in untried] == [Verdict.PASS, Verdict.PASS]
    assert untried[0].message == (
        "`later` was not tried, so its claim is not judged: the run was ended early, as the claim of `wait` was broken."
    )
    states = requirement_states(untried)
    assert states == dict.fromkeys(("K2", "K3", "K1"), RequirementState.NOT_EXERCISED)


def test_a_run_whose_violation_is_withdrawn_after_its_early_end_is_no_pass() -> None:
    events = ended()
    events[1] = events[1].__class__(**{**events[1].to_json(), "data": {"outcome": "done"}})
    findings = check(plan_of(WAIT, LATER), events.journal)
    assert Verdict.worst(each.verdict for each in findings) is Verdict.INCONCLUSIVE


def test_a_journal_without_the_steps_that_were_not_tried_is_whole() -> None:
    plan = plan_of(ask(Level.MUST, "error:77"), LATER)
    events = Events().add(1.0, "step", "ask", "end", outcome="done")
    events.add(2.0, "step", CONVERGE, "begin")
    assert len(list(missing_records(plan, events.journal))) == 1
    events.add(2.0, "note", "ended-early", "seen", what=ENDED_EARLY, step="ask", untried=["later"])
    assert list(missing_records(plan, events.journal)) == []
