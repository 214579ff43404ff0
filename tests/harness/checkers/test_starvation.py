"""Deadlines missed for want of a processor, and what no want of time excuses."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fencepost.harness.checkers.disturbances import Disturbances
from fencepost.harness.checkers.expectations import check
from fencepost.harness.checkers.starvation import ProcessorWait, WaitedTime, excuse_starved
from fencepost.harness.plan.model import Plan
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

MUST = {"level": "must", "requirement": "LIVE-01"}


def awaiting(level: str = "must") -> Plan:
    expect = MUST | {"level": level}
    step = {"do": "await", "as": "led", "condition": "leader", "partition": "t-0", "is": "node-5", "within_ms": 3000}
    return plan(steps=[step | {"expect": expect}])


def waited(builder: JournalBuilder, seconds: float, *, until: float, node: str = "node-4") -> JournalBuilder:
    """In the second before `until`."""
    return builder.at(until).event(
        "state", "processor", "seen", {"what": "processor", "waited": seconds, "seconds": 1.0}, node
    )


def missed(*waits: tuple[float, float], outcome: str = "missed") -> JournalBuilder:
    builder = JournalBuilder().at(1.0).event("step", "led", "begin")
    for until, seconds in waits:
        waited(builder, seconds, until=until)
    return builder.at(4.0).event("step", "led", "end", {"outcome": outcome, "message": "`leader` did not become true"})


def judged(plan: Plan, builder: JournalBuilder) -> Finding:
    [finding] = excuse_starved(plan, builder.journal(), check(plan, builder.journal()))
    return finding


def test_a_deadline_missed_while_a_node_had_no_processor_proves_nothing() -> None:
    finding = judged(awaiting(), missed((2.5, 0.6), (3.5, 0.5)))
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "node-4 waited for a processor for 1.1 s of the 3.0 s that it had" in finding.message


@pytest.mark.parametrize("waits", [(), ((2.5, 0.4), (3.5, 0.4)), ((0.9, 1.0),)], ids=["none", "less", "before"])
def test_a_deadline_missed_on_a_machine_with_time_stands(waits: tuple[tuple[float, float], ...]) -> None:
    builder = JournalBuilder()
    for until, seconds in waits:
        if until < 1.0:
            waited(builder, seconds, until=until)
    builder.at(1.0).event("step", "led", "begin")
    for until, seconds in waits:
        if until > 1.0:
            waited(builder, seconds, until=until)
    builder.at(4.0).event("step", "led", "end", {"outcome": "missed", "message": "`leader` did not become true"})
    assert judged(awaiting(), builder).verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("used", "before", "excused"),
    [(0.6, 100.0, False), (0.5, 15.0, False), (0.2, 100.0, True), (0.6, 3.0, True), (None, None, True)],
    ids=["spins", "just", "little", "starts", "earlier journal"],
)
def test_a_node_that_ran_itself_is_not_excused_by_its_waits(
    used: float | None, before: float | None, excused: bool
) -> None:
    """A thread that spins waits as soon as others want a processor."""
    builder = JournalBuilder().at(1.0).event("step", "led", "begin")
    own = {} if used is None else {"used": used, "used_before": before}
    for until in (2.0, 3.0, 4.0):
        data = {"what": "processor", "waited": 0.4, "seconds": 1.0} | own
        builder.at(until).event("state", "processor", "seen", data, "node-4")
    builder.event("step", "led", "end", {"outcome": "missed", "message": "`leader` did not become true"})
    assert judged(awaiting(), builder).verdict is (Verdict.INCONCLUSIVE if excused else Verdict.VIOLATION)


def test_waits_of_several_nodes_are_not_added_up() -> None:
    builder = JournalBuilder().at(1.0).event("step", "led", "begin")
    waited(builder, 0.9, until=2.5)
    waited(builder, 0.9, until=2.6, node="node-5")
    builder.at(4.0).event("step", "led", "end", {"outcome": "missed", "message": "no"})
    assert judged(awaiting(), builder).verdict is Verdict.VIOLATION


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


def asked(outcome: str, error: int | None, expected: str = "served", level: str = "must") -> Finding:
    expect = MUST | {"level": level, "outcome": expected}
    step = {"do": "probe", "as": "ask", "request": "produce", "node": "node-4", "topic": "t", "acks": "all"}
    builder = JournalBuilder().at(1.0).event("step", "ask", "begin")
    builder.event("op", "ask-1", "invoke", {"f": "probe", "step": "ask", "node": "node-4"}, "node-4")
    waited(builder, 0.9, until=2.0)
    body: dict[str, object] = {"f": "probe", "step": "ask", "outcome": outcome, "error": error, "body": {}}
    builder.at(2.1).event("op", "ask-1", "info", body, "node-4").event("step", "ask", "end", {"outcome": "done"})
    return judged(plan(steps=[step | {"expect": expect}]), builder)


@pytest.mark.parametrize(("outcome", "error"), [("unanswered", None), ("refused", 7)], ids=["none", "timed out"])
def test_an_answer_that_did_not_come_in_time_is_excused(outcome: str, error: int | None) -> None:
    assert asked(outcome, error).verdict is Verdict.INCONCLUSIVE


def test_an_answer_that_came_and_was_wrong_is_not_excused() -> None:
    assert asked("refused", 6).verdict is Verdict.VIOLATION
    assert asked("served", None, expected="refused").verdict is Verdict.VIOLATION
    assert asked("served", None, level="never").verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("error", "waits", "expected", "excused"),
    [
        (41, 0.5, "served", True),
        (80, 0.5, "served", True),
        (25, 0.5, "served", True),
        (41, 0.25, "served", False),
        (41, 0.0, "served", False),
        (40, 0.9, "served", False),
        (6, 0.9, "served", True),
        (6, 0.9, "error:29", False),
        (16, 0.9, "error:30", False),
        (41, 0.9, "error:[29,31]", True),
    ],
    ids=[
        *("no controller", "not in sync", "not a member", "time enough", "no waits", "wrong"),
        *("no leader", "no right to a topic", "no right to a group", "no controller and no right"),
    ],
)
def test_a_role_that_was_vacant_for_want_of_a_processor_proves_nothing(
    error: int, waits: float, expected: str, excused: bool
) -> None:
    """Seen on a machine with three campaigns: a starved broker left the ISR, so its preferred leader was refused.

    A broker asks for rights before it says that it has no role.
    """
    step = {"do": "probe", "as": "ask", "request": "api", "api": "elect_leaders", "node": "node-4", "body": {}}
    whole = plan(steps=[step | {"expect": MUST | {"outcome": expected}}])
    builder = JournalBuilder()
    for second in range(1, 9):
        waited(builder, waits, until=float(second))
    builder.at(8.0).event("step", "ask", "begin")
    builder.event("op", "ask-1", "invoke", {"f": "probe", "step": "ask", "node": "node-4"}, "node-4")
    body: dict[str, object] = {"f": "probe", "step": "ask", "outcome": "refused", "error": error, "body": {}}
    builder.at(8.1).event("op", "ask-1", "fail", body, "node-4").event("step", "ask", "end", {"outcome": "done"})
    assert judged(whole, builder).verdict is (Verdict.INCONCLUSIVE if excused else Verdict.VIOLATION)


@pytest.mark.parametrize(
    ("condition", "excused"),
    [
        ({"condition": "broker-epoch-above", "node": "node-4", "value": 1}, True),
        ({"condition": "isr", "partition": "t-0", "lacks": "node-5"}, True),
        ({"condition": "isr", "partition": "t-0", "lacks": "node-5", "has": "node-4"}, False),
        ({"condition": "isr", "partition": "t-0", "is": "node-4"}, False),
        ({"condition": "isr-shrunk", "partition": "t-0"}, False),
    ],
)
def test_only_a_state_that_has_to_be_renewed_may_be_lost_for_want_of_a_processor(
    condition: dict[str, object], excused: bool
) -> None:
    step = {"do": "await", "as": "led", "within_ms": 3000, "expect": MUST | {"level": "never"}, **condition}
    finding = judged(plan(steps=[step]), missed((2.5, 0.9), (3.5, 0.9), outcome="done"))
    assert finding.verdict is (Verdict.INCONCLUSIVE if excused else Verdict.VIOLATION)


@given(
    st.lists(st.tuples(st.floats(0.1, 5.0), st.floats(0.0, 5.0), st.floats(0.0, 1.0)), max_size=20),
    st.floats(0.0, 100.0),
    st.floats(0.0, 100.0),
)
@example([(1.0, 0.0, 0.0), (1.0, 0.0, 0.0)], 0.0, 1.0)
def test_the_time_waited_is_the_sum_of_the_parts_of_all_waits(
    samples: list[tuple[float, float, float]], begin: float, lasted: float
) -> None:
    """Take samples of a length, after a gap, with a share of the length waited."""
    at, waits = 0.0, []
    for length, gap, share in samples:
        waits.append(ProcessorWait(at + gap, at + gap + length, share * length))
        at += gap + length
    expected = sum(wait.within(begin, begin + lasted) for wait in waits)
    assert WaitedTime(waits).within(begin, begin + lasted) == pytest.approx(expected, abs=1e-9)
    found = WaitedTime(waits).between(begin, begin + lasted)
    assert list(found) == [wait for wait in waits if wait.end >= begin and wait.begin <= begin + lasted]


def test_the_waits_of_a_long_run_are_summed_up_once() -> None:
    """Sum each window anew for 10,000 samples, and 10^8 steps take far longer than this allows."""
    builder = JournalBuilder()
    for second in range(1, 10_001):
        waited(builder, 0.1, until=float(second))
    disturbances = Disturbances(plan(), waited(builder, 0.9, until=10_001.0).journal())
    begun = time.process_time()
    assert not disturbances.of_processors({"node-4"}, 0.0, 9_999.0, deadline=9.0)
    assert disturbances.of_processors({"node-4"}, 0.0, 10_001.0, deadline=1.0)
    assert time.process_time() - begun < 2.0
