"""Deadlines missed for want of a processor, and what no want of time excuses."""

import pytest

from harness.checkers.expectations import check
from harness.checkers.starvation import excuse_starved
from harness.plan.model import Plan
from results.records.verdict import Finding, Verdict
from tests.harness.checkers.plans import plan
from tests.harness.checkers.story import Story

MUST = {"level": "must", "requirement": "LIVE-01"}


def awaiting(level: str = "must") -> Plan:
    expect = MUST | {"level": level}
    step = {"do": "await", "as": "led", "condition": "leader", "partition": "t-0", "is": "node-5", "within_ms": 3000}
    return plan(steps=[step | {"expect": expect}])


def waited(story: Story, seconds: float, *, until: float, node: str = "node-4") -> Story:
    """In the second before `until`."""
    return story.at(until).event(
        "state", "processor", "seen", {"what": "processor", "waited": seconds, "seconds": 1.0}, node
    )


def missed(*waits: tuple[float, float], outcome: str = "missed") -> Story:
    story = Story().at(1.0).event("step", "led", "begin")
    for until, seconds in waits:
        waited(story, seconds, until=until)
    return story.at(4.0).event("step", "led", "end", {"outcome": outcome, "sentence": "`leader` did not come true"})


def judged(plan: Plan, story: Story) -> Finding:
    [finding] = excuse_starved(plan, story.journal(), check(plan, story.journal()))
    return finding


def test_a_deadline_missed_while_a_node_had_no_processor_proves_nothing() -> None:
    finding = judged(awaiting(), missed((2.5, 0.6), (3.5, 0.5)))
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "node-4 waited 1.1 s for a processor of the 3.0 s that there were" in finding.sentence


@pytest.mark.parametrize("waits", [(), ((2.5, 0.4), (3.5, 0.4)), ((0.9, 1.0),)], ids=["none", "less", "before"])
def test_a_deadline_missed_on_a_machine_with_time_stands(waits: tuple[tuple[float, float], ...]) -> None:
    story = Story()
    for until, seconds in waits:
        if until < 1.0:
            waited(story, seconds, until=until)
    story.at(1.0).event("step", "led", "begin")
    for until, seconds in waits:
        if until > 1.0:
            waited(story, seconds, until=until)
    story.at(4.0).event("step", "led", "end", {"outcome": "missed", "sentence": "`leader` did not come true"})
    assert judged(awaiting(), story).verdict is Verdict.VIOLATION


def test_waits_of_several_nodes_are_not_added_up() -> None:
    story = Story().at(1.0).event("step", "led", "begin")
    waited(story, 0.9, until=2.5)
    waited(story, 0.9, until=2.6, node="node-5")
    story.at(4.0).event("step", "led", "end", {"outcome": "missed", "sentence": "no"})
    assert judged(awaiting(), story).verdict is Verdict.VIOLATION


def test_what_must_never_come_true_is_not_excused() -> None:
    assert judged(awaiting("never"), missed((2.5, 0.9), (3.5, 0.9), outcome="done")).verdict is Verdict.VIOLATION


def test_a_lease_that_a_node_without_a_processor_lost_proves_nothing() -> None:
    expect = MUST | {"level": "never"}
    step = {
        "do": "await",
        "as": "led",
        "condition": "leader",
        "partition": "t-0",
        "is_not": "node-5",
        "within_ms": 3000,
    }
    kept = plan(steps=[step | {"expect": expect}])
    assert judged(kept, missed((2.5, 0.9), (3.5, 0.9), outcome="done")).verdict is Verdict.INCONCLUSIVE
    assert judged(kept, missed(outcome="done")).verdict is Verdict.VIOLATION


def asked(outcome: str, error: int | None, wish: str = "served", level: str = "must") -> Finding:
    expect = MUST | {"level": level, "outcome": wish}
    step = {"do": "probe", "as": "ask", "request": "produce", "node": "node-4", "topic": "t", "acks": "all"}
    story = Story().at(1.0).event("step", "ask", "begin")
    story.event("op", "ask-1", "invoke", {"f": "probe", "step": "ask", "node": "node-4"}, "node-4")
    waited(story, 0.9, until=2.0)
    body: dict[str, object] = {"f": "probe", "step": "ask", "outcome": outcome, "error": error, "body": {}}
    story.at(2.1).event("op", "ask-1", "info", body, "node-4").event("step", "ask", "end", {"outcome": "done"})
    return judged(plan(steps=[step | {"expect": expect}]), story)


@pytest.mark.parametrize(("outcome", "error"), [("unanswered", None), ("refused", 7)], ids=["none", "timed out"])
def test_an_answer_that_did_not_come_in_time_is_excused(outcome: str, error: int | None) -> None:
    assert asked(outcome, error).verdict is Verdict.INCONCLUSIVE


def test_an_answer_that_came_and_was_wrong_is_not_excused() -> None:
    assert asked("refused", 6).verdict is Verdict.VIOLATION
    assert asked("served", None, wish="refused").verdict is Verdict.VIOLATION
    assert asked("served", None, level="never").verdict is Verdict.VIOLATION
