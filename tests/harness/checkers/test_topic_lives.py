"""Records of topics that the plan deleted, and next to them those of topics that are gone without its doing."""

from typing import Any

import pytest

from fencepost.harness.checkers.consumer_order import nonmonotonic_poll
from fencepost.harness.checkers.history import History, read_history
from fencepost.harness.checkers.inconsistent_offsets import inconsistent_offsets
from fencepost.harness.checkers.lost_write import lost_write
from fencepost.harness.checkers.nonmonotonic_send import nonmonotonic_send
from fencepost.harness.checkers.recorded_run import RecordedRun
from fencepost.harness.checkers.returned import returned
from fencepost.harness.checkers.topic_lives import read_deletions, split_lives
from fencepost.harness.checkers.topic_requests import topic_requests
from fencepost.harness.checkers.unseen import unread, unseen
from fencepost.harness.plan.dialect import Dialect
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

BY_PROBE = {"f": "probe", "request": "delete-topic", "topic": "t"}


def history(builder: JournalBuilder, **changes: Any) -> History:
    journal = builder.journal()
    deletions = read_deletions(topic_requests(plan(**changes), journal), journal)
    return split_lives(read_history(journal), deletions)


def decided(builder: JournalBuilder, epoch: int = 0, **more: Any) -> JournalBuilder:
    return builder.partition(4, epoch, [4], seen_by="", **more)


def gone(builder: JournalBuilder) -> JournalBuilder:
    return builder.event("state", "log", "seen", {"what": "partition-gone", "topic": "t", "partition": 0})


def asked(builder: JournalBuilder, data: dict[str, Any] = BY_PROBE) -> JournalBuilder:
    return builder.event("op", f"ask-{builder.t}", "invoke", data)


def used() -> JournalBuilder:
    """Two records were acknowledged and read."""
    return decided(JournalBuilder()).send("a-0", 0).send("a-1", 1).poll((0, "a-0"), (1, "a-1"))


def deleted() -> JournalBuilder:
    return gone(asked(used()))


def created_again() -> JournalBuilder:
    """The topic has a life before its deletion and one after it, and the same offsets in both."""
    return decided(deleted()).send("b-0", 0).send("b-1", 1).poll((0, "b-0"), (1, "b-1"))


def test_records_of_a_topic_that_the_plan_deleted_are_not_lost() -> None:
    found = history(deleted())
    assert unseen(found).verdict is Verdict.PASS
    assert unread(found).verdict is Verdict.PASS
    assert lost_write(found).verdict is Verdict.PASS


def test_records_of_a_topic_that_is_gone_without_a_request_are_missed() -> None:
    assert unread(history(gone(used()))).verdict is Verdict.INCONCLUSIVE
    assert unread(history(gone(asked(used(), {**BY_PROBE, "topic": "u"})))).verdict is Verdict.INCONCLUSIVE


def test_offsets_begin_anew_when_a_topic_is_created_again() -> None:
    found = history(created_again().final((0, "b-0"), (1, "b-1")))
    for checker in (inconsistent_offsets, nonmonotonic_poll, nonmonotonic_send, lost_write, unseen, unread, returned):
        assert checker(found).verdict is Verdict.PASS, checker.module
    assert unseen(found).evidence["judged"] == 2


def test_the_final_read_waits_for_no_record_of_a_deleted_topic() -> None:
    run = RecordedRun(plan(), created_again().journal(), None, Dialect.KIP_631)
    assert run.deleted_values == {"a-0", "a-1"}


def test_a_record_that_the_new_topic_lost_is_seen() -> None:
    finding = unseen(history(created_again().final((0, "b-0"))))
    assert finding.verdict is Verdict.VIOLATION
    assert "1 record (t-0 offset 1)" in finding.message


def test_a_record_that_the_first_topic_skipped_before_its_deletion_is_seen() -> None:
    builder = decided(JournalBuilder()).send("a-0", 0).send("a-1", 1).poll((1, "a-1"))
    finding = lost_write(history(gone(asked(builder))))
    assert finding.verdict is Verdict.VIOLATION
    assert "t (deleted at" in finding.message


@pytest.mark.requirement("TOPIC-01")
def test_a_record_of_the_deleted_topic_in_the_new_one_is_seen() -> None:
    finding = returned(history(created_again().final((0, "a-0"), (1, "b-1"))))
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "TOPIC-01")
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][:3] == ("t-0", 0, "a-0")


def test_a_record_that_a_consumer_gets_late_belongs_to_the_topic_that_it_was_sent_to() -> None:
    builder = decided(deleted()).poll((0, "a-0")).send("b-0", 0).poll((0, "b-0"), process="d")
    assert inconsistent_offsets(history(builder)).verdict is Verdict.PASS


def test_a_record_sent_while_the_topic_is_deleted_and_created_is_not_promised() -> None:
    builder = asked(used()).send("x-0", 2)
    found = history(decided(gone(builder)).send("b-0", 0).final((0, "b-0")))
    assert unseen(found).evidence["judged"] == 1
    assert unseen(found).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "request_",
    [
        {"f": "admin", "request": "deleted", "topic": "t"},
        {"f": "probe", "request": "delete-topic"},
    ],
    ids=["administrator", "journal of an earlier release"],
)
def test_every_request_that_deletes_is_one_of_the_plan(request_: dict[str, Any]) -> None:
    assert unread(history(gone(asked(used(), request_)))).verdict is Verdict.PASS


def test_a_request_of_any_api_and_a_znode_delete_what_they_name() -> None:
    def by_api(topic: str) -> Any:
        sent = used().event("op", "any", "invoke", {"f": "probe", "request": "api", "step": "any"})
        answered = gone(
            sent.event("op", "any", "ok", {"f": "probe", "step": "any", "outcome": "served", "error": None})
        )
        step = {"do": "probe", "as": "any", "request": "api", "node": "node-4", "api": "delete_topics"}
        return unread(history(answered, steps=[{**step, "body": {"topic_names": [topic]}}])).verdict

    def by_znode(path: str, action: str = "create") -> Any:
        written = gone(used().event("step", "znode", "begin", {"do": "znode"}))
        return unread(history(written, steps=[{"do": "znode", "as": "znode", "action": action, "path": path}])).verdict

    assert by_api("t") is Verdict.PASS
    assert by_api("u") is Verdict.INCONCLUSIVE
    assert by_znode("/admin/delete_topics/t") is Verdict.PASS
    assert by_znode("/brokers/topics/t", "delete") is Verdict.PASS
    assert by_znode("/admin/delete_topics/u") is Verdict.INCONCLUSIVE
    assert by_znode("/brokers/topics/t/0/leader", "delete") is Verdict.INCONCLUSIVE


def test_a_topic_with_another_id_was_deleted_though_its_absence_was_not_seen() -> None:
    builder = asked(JournalBuilder().event("state", "t", "seen", _described("one")).send("a-0", 0).poll((0, "a-0")))
    builder.event("state", "t", "seen", _described("two")).send("b-0", 0).final((0, "b-0"))
    found = history(builder)
    assert inconsistent_offsets(found).verdict is Verdict.PASS
    assert unread(found).verdict is Verdict.PASS


BY_ID = [
    {
        "do": "probe",
        "request": "api",
        "node": "node-4",
        "api": "metadata",
        "as": "look",
        "binds": {"id": "topics[0].id"},
    },
    {
        "do": "probe",
        "request": "api",
        "node": "node-4",
        "api": "delete_topics",
        "as": "drop",
        "body": {"topics": [{"topic_id": "$id"}]},
    },
]


def by_id(builder: JournalBuilder, id: str, **answer: Any) -> JournalBuilder:
    """A step binds the id, and another deletes the topic by it; the answer is about this id."""
    looked = {"f": "probe", "step": "look", "outcome": "served", "body": {"response": {"topics": [{"id": id}]}}}
    builder.event("op", "look", "invoke", {"f": "probe", "step": "look"}).event("op", "look", "ok", looked)
    builder.event("op", "drop", "invoke", {"f": "probe", "step": "drop"})
    if not answer:
        return builder
    body = {"response": {"responses": [{"topic_id": id, **answer}]}}
    return builder.event("op", "drop", "ok", {"f": "probe", "step": "drop", "outcome": "served", "body": body})


def two_topics() -> JournalBuilder:
    """The topic `t` is read to its end, and `u` is another one."""
    builder = JournalBuilder().event("state", "t", "seen", _described("one"))
    return builder.event("state", "u", "seen", _described("two", "u")).send("a-0", 0).poll((0, "a-0"))


@pytest.mark.parametrize(
    ("id", "answer", "verdict"),
    [
        ("one", {"name": "t", "error_code": 0}, Verdict.PASS),
        ("one", {}, Verdict.PASS),
        ("two", {"name": "u", "error_code": 0}, Verdict.INCONCLUSIVE),
        ("two", {"name": "t", "error_code": 0}, Verdict.INCONCLUSIVE),
        ("two", {}, Verdict.INCONCLUSIVE),
        ("none", {}, Verdict.INCONCLUSIVE),
    ],
    ids=["its own", "its own, no answer", "another", "another, the answer names it", "another, no answer", "unknown"],
)
def test_a_deletion_by_the_id_of_another_topic_excuses_nothing(
    id: str, answer: dict[str, Any], verdict: Verdict
) -> None:
    assert unread(history(gone(by_id(two_topics(), id, **answer)), steps=BY_ID)).verdict is verdict


@pytest.mark.parametrize(("id", "verdict"), [("one", Verdict.INCONCLUSIVE), ("three", Verdict.PASS)])
def test_a_deletion_by_an_id_that_the_topic_no_longer_has_excuses_nothing(id: str, verdict: Verdict) -> None:
    builder = two_topics().event("op", "first", "invoke", BY_PROBE)
    again = gone(builder.event("op", "first", "ok", {**BY_PROBE, "outcome": "served"})).at(20)
    again.event("state", "t", "seen", _described("three")).send("b-0", 0).poll((0, "b-0"))
    assert unread(history(gone(by_id(again, id)), steps=BY_ID)).verdict is verdict


def test_an_id_that_the_journal_does_not_have_may_be_that_of_a_topic_without_one() -> None:
    assert unread(history(gone(by_id(used(), "one")), steps=BY_ID)).verdict is Verdict.PASS


def _described(id: str, topic: str = "t") -> dict[str, Any]:
    return {
        "what": "partition",
        "topic": topic,
        "partition": 0,
        "leader": 4,
        "leader_epoch": 0,
        "isr": [4],
        "topic_id": id,
    }
