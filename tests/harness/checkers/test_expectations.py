"""Claims are judged by what was sent after their instant; nothing to judge is never a pass."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checkers.expectations import check
from harness.plan.base import After, Expect, ExpectOutcome, Level
from harness.plan.conditions import BrokerFenced, NodeExited
from harness.plan.injects import InjectCut
from harness.plan.model import NodeSpec, Plan, Topology
from harness.plan.probes import MetadataProbe, ProduceProbe
from harness.plan.steps import Bind, Produce, Step
from results.records.events import Event
from results.records.journal import Journal
from results.records.verdict import Finding, Verdict

NODES = (
    NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),
    NodeSpec(name="node-4b", id=4, index=14, roles=("broker",), duplicate_of="node-4", start="later"),
)


def plan_of(*steps: Step) -> Plan:
    return Plan(
        story="s", title="S", document="d", seed=1, target="quorum", topology=Topology(nodes=NODES), steps=steps
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


@pytest.mark.requirement("DV-02")
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


def test_a_listed_difference_that_does_not_show_says_so() -> None:
    plan = plan_of(ask(Level.MUST, "served", difference="AK-03"))
    finding = only(check(plan, Events().probe(1.0, "ask", "refused", 6).journal))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.sentence.startswith("The listed difference AK-03 no longer shows")
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
def test_a_step_that_could_not_be_done_leaves_the_story_inconclusive(outcome: str) -> None:
    step = BrokerFenced(as_="wait", node="node-4", within_ms=10)
    events = Events().add(1, "step", "wait", "end", outcome=outcome, sentence="nobody leads t-0")
    finding = only(check(plan_of(step), events.journal))
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "nobody leads t-0" in finding.sentence


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
    assert "1 of 1 answers" in finding.sentence


def test_a_node_that_ends_by_itself_is_infrastructure() -> None:
    events = Events().add(1, "node", "node-4", "exited", exit_code=1, sentence="node-4 ended with exit code 1")
    finding = only(check(plan_of(), events.journal))
    assert finding.verdict is Verdict.INFRASTRUCTURE
    assert "exit code 1" in finding.sentence


def test_a_node_may_end_by_itself_if_a_step_waits_for_it_or_it_is_a_duplicate() -> None:
    duplicate = Events().add(1, "node", "node-4b", "exited", exit_code=1)
    assert check(plan_of(), duplicate.journal) == []
    role = (NodeExited(as_="gone", node="leader:t-0", within_ms=1),)
    gone = Event(0, 1, 1, "step", "gone", "end", None, {"outcome": "done", "node": "node-4"})
    assert check(plan_of(*role), Events([gone]).add(2, "node", "node-4", "exited", exit_code=1).journal) == []
    assert check(plan_of(*role), Events([gone]).add(2, "node", "node-5", "exited", exit_code=1).journal) != []
    steps = (Bind(as_="old", node="node-4"), NodeExited(node="$old", within_ms=1))
    awaited = Events().add(1, "step", "old", "end", outcome="done", bound="node-4")
    assert check(plan_of(*steps), awaited.add(2, "node", "node-4", "exited", exit_code=1).journal) == []


def test_a_node_may_end_by_itself_over_its_disk_until_it_is_started_on_a_whole_one() -> None:
    broken = (
        Events()
        .add(1, "node", "node-4", "started")
        .add(2, "fault", "broken", "intent", fault="disk-error", params={"node": "node-4"})
    )
    assert check(plan_of(), broken.add(3, "node", "node-4", "exited", exit_code=1).journal) == []
    healed = broken.add(4, "fault", "broken", "healed").add(5, "node", "node-4", "started")
    again = healed.add(6, "node", "node-4", "exited", exit_code=1)
    assert only(check(plan_of(), again.journal)).verdict is Verdict.INFRASTRUCTURE
    other = Events().add(1, "fault", "broken", "intent", fault="disk-error", params={"node": "node-5"})
    assert check(plan_of(), other.add(2, "node", "node-4", "exited", exit_code=1).journal) != []


def test_a_node_may_end_by_itself_if_it_was_misled_about_who_it_is_when_it_was_started() -> None:
    swapped = (
        Events()
        .add(1, "fault", "swap", "intent", fault="swapped", nodes=["node-4", "node-5"])
        .add(2, "node", "node-4", "started")
        .add(2, "node", "node-5", "started")
    )
    refused = swapped.add(3, "node", "node-4", "exited", exit_code=1).add(4, "fault", "swap", "recovering")
    late = refused.add(5, "node", "node-5", "exited", exit_code=1)
    assert check(plan_of(), late.journal) == []
    again = late.add(6, "node", "node-5", "started").add(7, "node", "node-5", "exited", exit_code=1)
    assert only(check(plan_of(), again.journal)).verdict is Verdict.INFRASTRUCTURE


def test_a_node_that_ends_by_itself_after_a_kill_was_not_misled() -> None:
    killed = Events().add(1, "fault", "kill", "intent", fault="kill", nodes=["node-4"])
    again = killed.add(2, "node", "node-4", "started").add(3, "node", "node-4", "exited", exit_code=1)
    assert only(check(plan_of(), again.journal)).verdict is Verdict.INFRASTRUCTURE


def test_a_plan_without_claims_has_no_findings() -> None:
    plan = plan_of(InjectCut(as_="cut", from_="node-4", to="node-4b"), MetadataProbe(node="node-4"))
    assert check(plan, Events().probe(1.0, "step-02", "served").journal) == []
