"""Topics that are gone or changed: by the doing of the plan, and next to it without a request."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.harness.checkers.topic_lives import read_deletions
from fencepost.harness.checkers.topic_requests import topic_requests
from fencepost.harness.checkers.topics_at_end import partitions_as_asked, read_topics, topics_stay
from fencepost.harness.judge import judge
from fencepost.results.records.requirements import RequirementState
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

DELETE_U = {"do": "probe", "as": "drop", "request": "delete-topic", "node": "node-4", "topic": "u"}
GROW = {"do": "probe", "as": "grow", "request": "create-partitions", "node": "node-4", "topic": "t", "count": 2}
MAKE = {"do": "probe", "as": "make", "request": "create-topic", "node": "node-4", "topic": "made", "partitions": 2}
TWO_TOPICS = [{"name": "t", "assignments": [[4, 5]]}, {"name": "u", "assignments": [[4, 5]]}]


def decided(
    builder: JournalBuilder, topic: str = "t", partitions: int = 1, id: str | None = None, seen_by: str | None = None
) -> JournalBuilder:
    for number in range(partitions):
        data: dict[str, Any] = {"what": "partition", "topic": topic, "partition": number, "leader": 4}
        data |= {"leader_epoch": 0, "isr": [4, 5]} | ({"topic_id": id} if id else {})
        builder.event("state", "log", "seen", data, seen_by)
    return builder


def gone(builder: JournalBuilder, topic: str = "t", partition: int = 0) -> JournalBuilder:
    return builder.event("state", "log", "seen", {"what": "partition-gone", "topic": topic, "partition": partition})


def asked(builder: JournalBuilder, step: str, *, error: int | None = None, phase: str = "ok") -> JournalBuilder:
    builder.event("op", f"probe-{step}", "invoke", {"f": "probe", "step": step})
    outcome = "served" if error is None else "refused"
    data: dict[str, Any] = {"f": "probe", "step": step, "outcome": outcome, "error": error, "body": {}}
    return builder.event("op", f"probe-{step}", phase, data)


def listed(builder: JournalBuilder, *topics: tuple[str, str | None, int], node: str = "node-4") -> JournalBuilder:
    data = {"process": "topics", "f": "topics", "topics": [list(each) for each in topics]}
    return builder.event("op", f"topics-{node}", "ok", data, node)


def converged(builder: JournalBuilder) -> JournalBuilder:
    return builder.event("step", "end:converge", "end", {"outcome": "done"})


def judged(builder: JournalBuilder, **changes: Any) -> tuple[Finding, Finding]:
    of, journal = plan(**changes), builder.journal()
    requests = tuple(topic_requests(of, journal))
    topics = read_topics(of, journal, requests, read_deletions(requests, journal))
    return topics_stay(topics), partitions_as_asked(of, topics)


@pytest.mark.requirement("TOPIC-02")
@pytest.mark.requirement("TOPIC-03")
def test_each_witness_of_a_topic_is_counted() -> None:
    builder = listed(listed(converged(decided(JournalBuilder(), id="one")), ("t", "one", 1)), ("t", "one", 1), node="n")
    for finding in judged(builder):
        assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 3)


def test_without_a_witness_nothing_is_judged() -> None:
    for finding in judged(JournalBuilder().event("run", "r", "begin")):
        assert finding.evidence["judged"] == 0


def test_a_topic_that_goes_with_another_one_is_missed_with_its_records() -> None:
    """As a broker does that deletes all topics when one is deleted."""
    builder = decided(decided(JournalBuilder().event("run", "r", "begin")), "u").send("p-0", 0).poll((0, "p-0"))
    gone(gone(asked(builder, "drop"), "u"))
    builder.event("op", "final", "invoke", {"process": "final", "f": "final"})
    builder.event("op", "final", "info", {"process": "final", "f": "final", "partitions": []})
    verdict = judge(plan(topics=TWO_TOPICS, steps=[DELETE_U]), builder.event("run", "r", "end").journal())
    broken = {each.id for each in verdict.requirements if each.state is RequirementState.BROKEN}
    assert (verdict.verdict, broken) == (Verdict.VIOLATION, {"ACK-01", "TOPIC-02"})
    assert "1 record (t-0 offset 0)" in verdict.headline


def test_an_empty_topic_is_missed_and_one_that_a_step_deleted_is_not() -> None:
    builder = decided(decided(JournalBuilder()), "u")
    assert judged(gone(asked(builder, "drop"), "u"), topics=TWO_TOPICS, steps=[DELETE_U])[0].verdict is Verdict.PASS
    finding, _ = judged(gone(builder), topics=TWO_TOPICS, steps=[DELETE_U])
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "TOPIC-02")
    assert "The topic t is gone" in finding.message


def test_a_refused_deletion_excuses_nothing_and_one_without_an_answer_does() -> None:
    def finding(**answer: Any) -> Verdict:
        builder = gone(asked(decided(decided(JournalBuilder()), "u"), "drop", **answer), "u")
        return judged(builder, topics=TWO_TOPICS, steps=[DELETE_U])[0].verdict

    assert finding(error=29, phase="fail") is Verdict.VIOLATION
    assert finding(error=7, phase="fail") is Verdict.PASS


def test_a_deletion_that_is_under_way_may_also_take_the_topic_that_was_created_meanwhile() -> None:
    first, second = DELETE_U, {**DELETE_U, "as": "again"}
    builder = decided(decided(JournalBuilder()), "u")
    builder.event("op", "probe-drop", "invoke", {"f": "probe", "step": "drop"})
    decided(gone(asked(builder, "again"), "u"), "u")
    gone(builder, "u").event("op", "probe-drop", "ok", {"f": "probe", "step": "drop", "outcome": "served"})
    assert judged(builder, topics=TWO_TOPICS, steps=[first, second])[0].verdict is Verdict.PASS


def test_a_topic_of_another_id_is_another_topic() -> None:
    builder = decided(decided(JournalBuilder(), id="one"), id="two")
    finding, _ = judged(builder)
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "TOPIC-02")
    assert "another topic" in finding.message
    assert judged(listed(decided(JournalBuilder(), id="one"), ("t", "two", 1)))[0].verdict is Verdict.VIOLATION


@pytest.mark.parametrize("error", [7, -1])
def test_a_creation_that_failed_may_be_undone_and_one_that_was_acknowledged_may_not(error: int) -> None:
    steps = [MAKE, {**MAKE, "as": "again"}]
    builder = gone(decided(asked(JournalBuilder(), "make", error=error), "made", 2, "one"), "made")
    gone(builder, "made", 1)
    assert judged(builder, topics=[], steps=steps)[0].evidence["judged"] == 0
    decided(asked(builder, "again"), "made", 2, "two")
    assert judged(builder, topics=[], steps=steps)[0].verdict is Verdict.PASS
    decided(builder, "made", 2, "three")
    assert judged(builder, topics=[], steps=steps)[0].verdict is Verdict.VIOLATION
    gone(gone(builder, "made"), "made", 1)
    assert judged(builder, topics=[], steps=steps)[0].verdict is Verdict.VIOLATION


def test_where_no_decision_was_seen_the_lists_of_a_converged_cluster_tell_that_a_topic_is_gone() -> None:
    assert judged(listed(converged(JournalBuilder())))[0].verdict is Verdict.VIOLATION
    assert judged(listed(JournalBuilder()))[0].evidence["judged"] == 0


@pytest.mark.parametrize("fault", ["emptied", "restored"])
def test_a_voter_that_lost_its_disk_may_have_forgotten_a_topic(fault: str) -> None:
    builder = decided(JournalBuilder())
    finding, _ = judged(gone(builder.event("fault", "away", "intent", {"fault": fault, "nodes": ["node-1"]})))
    assert finding.verdict is Verdict.INCONCLUSIVE
    builder = decided(JournalBuilder())
    finding, _ = judged(gone(builder.event("fault", "away", "intent", {"fault": fault, "nodes": ["node-4"]})))
    assert finding.verdict is Verdict.VIOLATION


@pytest.mark.requirement("TOPIC-03")
def test_a_topic_has_the_partitions_of_the_plan() -> None:
    _, finding = judged(decided(JournalBuilder(), partitions=3))
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "TOPIC-03")
    assert "The topic t has 3 partitions at the end, and 1 were asked for" in finding.message
    assert judged(listed(JournalBuilder(), ("t", None, 3)))[1].verdict is Verdict.VIOLATION


def test_a_growth_that_was_asked_for_is_lawful_and_one_that_was_acknowledged_has_to_be_there() -> None:
    unasked = decided(JournalBuilder(), partitions=2)
    assert judged(unasked, steps=[GROW])[1].verdict is Verdict.VIOLATION
    refused = decided(asked(JournalBuilder(), "grow", error=29, phase="fail"), partitions=2)
    assert judged(refused, steps=[GROW])[1].verdict is Verdict.VIOLATION
    for partitions, lawful in ((2, Verdict.PASS), (1, Verdict.VIOLATION)):
        served = decided(asked(JournalBuilder(), "grow"), partitions=partitions)
        assert judged(served, steps=[GROW])[1].verdict is lawful
    unknown = decided(asked(JournalBuilder(), "grow", error=7, phase="info"))
    assert judged(unknown, steps=[GROW])[1].verdict is Verdict.PASS


def test_a_request_of_any_api_grows_what_it_names_unless_it_only_validates() -> None:
    def finding(**body: Any) -> Verdict:
        step = {"do": "probe", "as": "grow", "request": "api", "node": "node-4", "api": "create_partitions"}
        steps = [{**step, "body": {"topics": [{"name": "t", "count": 2, "assignments": None}], **body}}]
        return judged(decided(asked(JournalBuilder(), "grow"), partitions=2), steps=steps)[1].verdict

    assert finding() is Verdict.PASS
    assert finding(validate_only=True) is Verdict.VIOLATION


def test_a_created_topic_stays_as_it_was_asked_for() -> None:
    stays, numbers = judged(decided(asked(decided(JournalBuilder()), "make"), "made", 2), steps=[MAKE])
    assert (stays.evidence["judged"], numbers.verdict) == (2, Verdict.PASS)
    assert judged(decided(asked(decided(JournalBuilder()), "make"), "made"), steps=[MAKE])[1].verdict is (
        Verdict.VIOLATION
    )
    vanished = gone(gone(decided(asked(decided(JournalBuilder()), "make"), "made", 2), "made"), "made", 1)
    assert judged(vanished, steps=[MAKE])[0].verdict is Verdict.VIOLATION


def test_a_znode_of_a_topic_grows_it() -> None:
    data = '{"partitions": {"0": [4, 5], "1": [4, 5]}}'
    step = {"do": "znode", "as": "grow", "action": "set", "path": "/brokers/topics/t", "data": data}
    builder = decided(JournalBuilder().event("step", "grow", "begin", {"do": "znode"}), partitions=2)
    assert judged(builder, steps=[step])[1].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("id", "verdict"), [("one", Verdict.PASS), ("two", Verdict.VIOLATION), ("none", Verdict.VIOLATION)]
)
def test_a_deletion_by_the_id_of_another_topic_is_not_one_of_this(id: str, verdict: Verdict) -> None:
    step = {"do": "probe", "as": "drop", "request": "api", "node": "node-4", "api": "delete_topics"}
    steps = [{**step, "body": {"topics": [{"topic_id": id}]}}]
    builder = decided(decided(JournalBuilder(), id="one"), "u", id="two")
    builder.event("op", "drop", "invoke", {"f": "probe", "step": "drop"})
    assert judged(listed(converged(gone(builder)), ("u", "two", 1)), steps=steps)[0].verdict is verdict
