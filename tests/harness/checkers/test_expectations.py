"""Claims are judged by what was sent after their instant; nothing to judge is never a pass."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.faults.links.cut import CutParameters
from fencepost.harness.checkers.expectations import check
from fencepost.harness.plan.base import After, Expect, ExpectOutcome, KnownBug, Level
from fencepost.harness.plan.conditions.broker_fenced import BrokerFenced
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.plan.requests.metadata import MetadataProbe
from fencepost.harness.plan.requests.produce import ProduceProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.produce import Produce
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal
from fencepost.results.records.requirements import RequirementState
from fencepost.results.records.verdict import Finding, Verdict, requirement_states

NODES = (
    NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),
    NodeSpec(name="node-4b", id=4, index=14, roles=("broker",), duplicate_of="node-4", start="later"),
)


def plan_of(*steps: Step) -> Plan:
    return Plan(
        scenario="s", title="S", document="d", seed=1, target="quorum", topology=Topology(nodes=NODES), steps=steps
    )


class Events(list[Event]):
    """A journal in the making; each line one call."""

    def add(self, t: float, type: str, id: str, phase: str, node: str | None = None, **data: Any) -> Events:
        self.append(Event(len(self), t, t, type, id, phase, node, data))
        return self

    def probe(self, t: float, step: str, outcome: str, error: int | None = None, **result: Any) -> Events:
        op = f"probe-{step}-{len(self)}"
        self.add(t, "op", op, "invoke", "node-4", f="probe", step=step)
        answer = {"outcome": outcome, "error": error, "body": {}, **result}
        return self.add(t + 0.01, "op", op, "ok", "node-4", f="probe", step=step, **answer)

    def proven(self, t: float) -> Events:
        return self.add(t, "fault", "cut", "proven")

    @property
    def journal(self) -> Journal:
        return Journal(tuple(self))


def ask(level: Level, outcome: str, **more: Any) -> MetadataProbe:
    expect = ExpectOutcome(level=level, outcome=outcome, requirement="K1", difference=more.pop("difference", None))
    return MetadataProbe(as_="ask", node="node-4", expect=expect, **more)


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1
    return findings[0]


@pytest.mark.parametrize(
    ("level", "claim", "outcome", "error", "verdict"),
    [
        (Level.MUST, "error:77", "refused", 77, Verdict.PASS),
        (Level.MUST, "error:[74,77]", "refused", 77, Verdict.PASS),
        (Level.MUST, "error:77", "refused", 74, Verdict.VIOLATION),
        (Level.MUST, "error:77", "served", None, Verdict.VIOLATION),
        (Level.MUST, "refused", "unanswered", None, Verdict.VIOLATION),
        (Level.MUST, "refused", "absent", None, Verdict.INCONCLUSIVE),
        (Level.NEVER, "served", "served", None, Verdict.VIOLATION),
        (Level.NEVER, "served", "refused", 6, Verdict.PASS),
        (Level.NEVER, "served", "unanswered", None, Verdict.PASS),
        (Level.NEVER, "served", "absent", None, Verdict.INCONCLUSIVE),
        (Level.MUST, "refused", "unreadable", None, Verdict.INCONCLUSIVE),
        (Level.NEVER, "served", "unreadable", None, Verdict.INCONCLUSIVE),
        (Level.MAY, "served", "served", None, Verdict.PASS),
        (Level.MAY, "served", "refused", 6, Verdict.PASS),
    ],
)
@pytest.mark.requirement("DV-01")
def test_a_claim_about_an_answer(level: Level, claim: str, outcome: str, error: int | None, verdict: Verdict) -> None:
    finding = only(check(plan_of(ask(level, claim)), Events().probe(1.0, "ask", outcome, error).journal))
    assert (finding.verdict, finding.requirement, finding.level) == (verdict, "K1", level.value)


@pytest.mark.parametrize(
    ("level", "claim", "answers", "verdict", "difference"),
    [
        (Level.MUST, "error:40", [-1], Verdict.PASS, "KAFKA-1"),
        (Level.NEVER, "error:-1", [-1], Verdict.PASS, "KAFKA-1"),
        (Level.MUST, "error:40", [-1, 40], Verdict.PASS, "KAFKA-1"),
        (Level.MUST, "error:40", [-1, 41], Verdict.VIOLATION, None),
        (Level.MUST, "error:40", [41], Verdict.VIOLATION, None),
        (Level.MUST, "error:40", [40], Verdict.PASS, None),
    ],
)
def test_a_known_bug_explains_the_answers_that_show_it_and_no_others(
    level: Level, claim: str, answers: list[int], verdict: Verdict, difference: str | None
) -> None:
    bug = KnownBug(id="KAFKA-1", outcome="error:-1")
    expect = ExpectOutcome(level=level, outcome=claim, requirement="K1", known_bug=bug)
    events = Events()
    for t, error in enumerate(answers):
        events.probe(float(t), "ask", "refused", error)
    finding = only(check(plan_of(MetadataProbe(as_="ask", node="node-4", expect=expect)), events.journal))
    assert (finding.verdict, finding.difference) == (verdict, difference)


@pytest.mark.requirement("DV-02")
def test_a_claim_of_several_requirements_is_one_finding_about_all_of_them() -> None:
    step = MetadataProbe(
        as_="ask",
        node="node-4",
        expect=ExpectOutcome(level=Level.NEVER, outcome="served", requirement="K1", also=("K2", "K3")),
    )
    finding = only(check(plan_of(step), Events().probe(1.0, "ask", "served").journal))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirements == ("K1", "K2", "K3")
    assert set(requirement_states([finding]).values()) == {RequirementState.BROKEN}


@pytest.mark.parametrize(("level", "claim"), [(Level.MUST, "refused"), (Level.NEVER, "served"), (Level.MUST, "served")])
@pytest.mark.requirement("DV-09")
def test_a_request_that_the_release_does_not_have_judges_nothing(level: Level, claim: str) -> None:
    reason = {"reason": "node-4 has no request DescribeQuorum"}
    events = Events().probe(1.0, "ask", "not-asked", body=reason).probe(1.5, "ask", "absent")
    alone = check(plan_of(ask(level, claim)), events.journal)
    assert [finding.verdict for finding in alone] == [Verdict.PASS, Verdict.INCONCLUSIVE]
    assert "has no request DescribeQuorum" in alone[0].message
    assert requirement_states(alone[:1]) == {"K1": RequirementState.NOT_EXERCISED}
    other = ask(Level.MUST, "served").model_copy(update={"as_": "other"})
    beside = check(plan_of(ask(level, claim), other), events.probe(2.0, "other", "served").journal)
    assert [finding.verdict for finding in beside] == [Verdict.PASS, Verdict.PASS]


def test_an_optional_claim_without_an_answer_is_not_exercised_and_judged_with_one() -> None:
    expect = ExpectOutcome(level=Level.NEVER, outcome="served", requirement="K1", optional=True)
    optional = MetadataProbe(as_="ask", node="node-4", expect=expect)
    plan = plan_of(optional, ask(Level.MUST, "served").model_copy(update={"as_": "other"}))
    events = Events().probe(0.5, "other", "served").probe(1.0, "ask", "absent")
    assert requirement_states(check(plan_of(optional), events.journal)[:1]) == {"K1": RequirementState.NOT_EXERCISED}
    assert {finding.verdict for finding in check(plan, events.journal)} == {Verdict.PASS}
    events.probe(2.0, "ask", "served")
    assert Verdict.VIOLATION in {finding.verdict for finding in check(plan, events.journal)}


def test_a_claim_that_was_asked_at_least_once_is_judged_by_that() -> None:
    events = Events().probe(1.0, "ask", "not-asked").probe(2.0, "ask", "served")
    assert only(check(plan_of(ask(Level.NEVER, "served")), events.journal)).verdict is Verdict.VIOLATION


def test_what_was_sent_before_the_instant_is_not_judged() -> None:
    plan = plan_of(ask(Level.NEVER, "served", after=After(event="cut.proven", plus_ms=1000)))
    before = Events().proven(1.0).probe(1.9, "ask", "served").probe(2.1, "ask", "refused", 6)
    assert only(check(plan, before.journal)).verdict is Verdict.PASS
    assert only(check(plan, before.probe(2.2, "ask", "served").journal)).verdict is Verdict.VIOLATION


def test_a_claim_whose_instant_never_came_is_not_judged() -> None:
    plan = plan_of(ask(Level.NEVER, "served", after=After(event="cut.proven")))
    assert only(check(plan, Events().probe(1.0, "ask", "served").journal)).verdict is Verdict.INCONCLUSIVE


def test_one_wrong_answer_of_several_breaks_a_must_and_is_shown() -> None:
    events = Events().probe(1.0, "ask", "refused", 77).probe(2.0, "ask", "served")
    finding = only(check(plan_of(ask(Level.MUST, "error:77")), events.journal))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.counterexample is not None
    assert finding.counterexample.total == 1
    assert finding.at == 2.0


@pytest.mark.parametrize(
    ("answer", "cell", "says"),
    [
        ({"error": None, "offset": 3}, "", "served from node-4 at 2.00 s"),
        ({"error": "STALE_BROKER_EPOCH"}, "STALE_BROKER_EPOCH", "served STALE_BROKER_EPOCH from node-4 at 2.00 s"),
    ],
)
def test_an_answer_without_an_error_shows_none(answer: dict[str, Any], cell: str, says: str) -> None:
    events = Events().probe(2.0, "ask", "served", body=answer)
    finding = only(check(plan_of(ask(Level.NEVER, "served")), events.journal))
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][3] == cell
    assert finding.message.endswith(f"the first: {says}.")


def test_a_refusal_that_its_answer_does_not_name_shows_its_code() -> None:
    events = Events().probe(2.0, "ask", "refused", 77, body={"error": None})
    finding = only(check(plan_of(ask(Level.NEVER, "refused")), events.journal))
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][3] == 77
    assert finding.message.endswith("refused 77 from node-4 at 2.00 s.")


def test_a_bad_event_that_did_not_come_is_described_without_a_double_negative() -> None:
    answers = only(check(plan_of(ask(Level.NEVER, "served")), Events().probe(1.0, "ask", "refused", 6).journal))
    assert answers.message == "None of 1 answers to `ask` was `served`, as required."
    step = BrokerFenced(as_="wait", node="node-4", within_ms=10, expect=Expect(level=Level.NEVER, requirement="K1"))
    missed = only(check(plan_of(step), Events().add(1, "step", "wait", "end", outcome="missed").journal))
    assert missed.message == "`wait` did not become true within 10 ms, as required."


def test_a_listed_difference_that_does_not_show_says_so() -> None:
    plan = plan_of(ask(Level.MUST, "served", difference="AK-03"))
    finding = only(check(plan, Events().probe(1.0, "ask", "refused", 6).journal))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.message.startswith("The listed difference AK-03 no longer shows")
    shown = only(check(plan, Events().probe(1.0, "ask", "served").journal))
    assert (shown.verdict, shown.difference) == (Verdict.PASS, "AK-03")


def test_a_listed_difference_that_may_show_is_named_only_where_it_does() -> None:
    plan = plan_of(ask(Level.MAY, "served", difference="AK-07"))
    shown = only(check(plan, Events().probe(1.0, "ask", "served").journal))
    hidden = only(check(plan, Events().probe(1.0, "ask", "refused", 41).journal))
    assert (shown.verdict, shown.difference) == (Verdict.PASS, "AK-07")
    assert (hidden.verdict, hidden.difference) == (Verdict.PASS, None)


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, Verdict.PASS),
        ({"t-0": [[4, 1], [5, 2]]}, Verdict.VIOLATION),
        (None, Verdict.INCONCLUSIVE),
    ],
)
def test_a_refused_request_may_change_nothing(changed: dict[str, Any] | None, verdict: Verdict) -> None:
    plan = plan_of(ask(Level.MUST, "error:77", unchanged=("t-0",)))
    answer, unchanged = check(plan, Events().probe(1.0, "ask", "refused", 77, changed=changed).journal)
    assert answer.verdict is Verdict.PASS
    assert unchanged.verdict is verdict


@pytest.mark.parametrize(
    ("level", "outcome", "verdict"),
    [
        (Level.MUST, "done", Verdict.PASS),
        (Level.MUST, "missed", Verdict.VIOLATION),
        (Level.NEVER, "missed", Verdict.PASS),
        (Level.NEVER, "done", Verdict.VIOLATION),
        (Level.MAY, "done", Verdict.PASS),
        (Level.MAY, "missed", Verdict.PASS),
    ],
)
def test_a_claim_about_a_condition(level: Level, outcome: str, verdict: Verdict) -> None:
    step = BrokerFenced(as_="wait", node="node-4", within_ms=10, expect=Expect(level=level, requirement="K1"))
    finding = only(check(plan_of(step), Events().add(1, "step", "wait", "end", outcome=outcome).journal))
    assert finding.verdict is verdict


def test_a_condition_that_was_never_waited_for_is_not_judged() -> None:
    step = BrokerFenced(as_="wait", node="node-4", within_ms=10, expect=Expect(level=Level.NEVER, requirement="K1"))
    assert only(check(plan_of(step), Events().journal)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("outcome", ["failed", "missed"])
def test_a_step_that_could_not_be_done_leaves_the_scenario_inconclusive(outcome: str) -> None:
    step = BrokerFenced(as_="wait", node="node-4", within_ms=10)
    events = Events().add(1, "step", "wait", "end", outcome=outcome, message="t-0 has no leader")
    finding = only(check(plan_of(step), events.journal))
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "t-0 has no leader" in finding.message


@pytest.mark.parametrize(
    ("phase", "code", "outcome", "verdict"),
    [
        ("ok", None, "served", Verdict.PASS),
        ("fail", 19, "error:19", Verdict.PASS),
        ("fail", 6, "error:19", Verdict.VIOLATION),
        ("info", -192, "unanswered", Verdict.PASS),
        ("info", None, "unanswered", Verdict.PASS),
    ],
)
def test_each_record_of_a_burst_is_judged(phase: str, code: int | None, outcome: str, verdict: Verdict) -> None:
    step = Produce(as_="burst", topic="t", expect=ExpectOutcome(level=Level.MUST, outcome=outcome, requirement="K1"))
    events = Events().add(1, "op", "send-1", "invoke", f="send", process="burst", value="burst-0")
    events.add(2, "op", "send-1", phase, f="send", process="burst", code=code)
    assert only(check(plan_of(step), events.journal)).verdict is verdict


def test_the_record_of_a_probe_is_judged_once_as_the_probe() -> None:
    """A connection that ends in place of an answer is a refusal; of the record nothing is known."""
    events = Events().add(1, "op", "send-ask-0", "invoke", f="send", process="ask", value="ask-0")
    events.probe(1.0, "ask", "refused").add(2, "op", "send-ask-0", "info", f="send", process="ask", error="it hung up")
    step = ProduceProbe(
        as_="ask", node="node-4", topic="t", expect=ExpectOutcome(level=Level.MUST, outcome="refused", requirement="K1")
    )
    finding = only(check(plan_of(step), events.journal))
    assert finding.verdict is Verdict.PASS
    assert "1 of 1 answers" in finding.message


def test_a_plan_without_claims_has_no_findings() -> None:
    plan = plan_of(inject("cut", CutParameters(from_="node-4", to="node-4b")), MetadataProbe(node="node-4"))
    assert check(plan, Events().probe(1.0, "step-02", "served").journal) == []


def test_a_request_that_the_end_of_the_run_cut_short_is_unanswered() -> None:
    events = Events().add(1, "op", "probe-1", "invoke", "node-4", f="probe", step="ask")
    finding = only(check(plan_of(ask(Level.MUST, "unanswered")), events.journal))
    assert finding.verdict is Verdict.PASS


def test_an_answer_that_differs_says_what_was_claimed_and_what_was_answered() -> None:
    body = {"claimed": {"topics[0].error_code": 36, "a": "$x"}, "answered": {"topics[0].error_code": 0, "a": None}}
    journal = Events().probe(1.0, "ask", "different", body={**body, "version": 7}).journal
    finding = only(check(plan_of(ask(Level.MUST, "served")), journal))
    assert finding.message == (
        "0 of 1 answers to `ask` were `served`, and all must be; the first that was not: different from node-4 at "
        "1.00 s, in which `topics[0].error_code` is 0 and not 36; `a` is None and not '$x'."
    )
    assert finding.counterexample is not None
    [row] = finding.counterexample.rows
    assert row[-1] == "`topics[0].error_code` is 0 and not 36; `a` is None and not '$x', version=7"
