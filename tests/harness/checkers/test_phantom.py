"""Records that are read and were not sent there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fencepost.harness.checkers.history import History
from fencepost.harness.checkers.phantom import phantom, topics_of_known_senders
from fencepost.harness.judge import judge
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

BY_REQUEST = {
    "do": "probe",
    "request": "api",
    "node": "node-4",
    "api": "produce",
    "body": {"topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": "x"}]}]},
}


def sent() -> JournalBuilder:
    return JournalBuilder().event("run", "r", "begin").send("p-0", 0).send("p-1", 1, outcome="info")


def judged(builder: JournalBuilder) -> History:
    return replace(builder.history(), known_senders=frozenset({"t"}))


@pytest.mark.requirement("ACK-08")
def test_what_was_sent_is_read_whatever_its_answer_was() -> None:
    finding = phantom(judged(sent().poll((0, "p-0")).final((0, "p-0"), (1, "p-1"))))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 2)


@pytest.mark.requirement("ACK-08")
@pytest.mark.parametrize("value", ["p-2", "evil", ""])
def test_a_record_that_no_client_sent_is_seen(value: str) -> None:
    builder = sent().poll((0, "p-0"), (1, "p-1"), (2, value)).final((0, "p-0"), (1, "p-1"), (2, value))
    finding = phantom(judged(builder))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.counterexample is not None
    assert [row[:4] for row in finding.counterexample.rows] == [("t-0", 2, value, "nowhere")]
    verdict = judge(plan(), builder.event("run", "r", "end").journal())
    assert any(each.check == "phantom" and each.verdict is Verdict.VIOLATION for each in verdict.findings)


@pytest.mark.requirement("ACK-08")
def test_a_record_of_another_partition_or_topic_is_seen() -> None:
    for builder in (sent().poll((0, "p-0"), partition=1), sent().send("u-0", 0, topic="u").poll((1, "u-0"))):
        finding = phantom(judged(builder))
        assert finding.message.endswith("read, and not sent there.")
        assert finding.verdict is Verdict.VIOLATION


def test_topics_whose_senders_are_not_known_are_not_judged() -> None:
    finding = phantom(sent().poll((0, "of a user")).history())
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 0)


def test_records_of_a_topic_that_was_deleted_keep_its_name() -> None:
    name = "t (deleted at 7.1 s)"
    history = judged(JournalBuilder().send("p-0", 0, topic=name).poll((0, "p-0"), topic=name).poll((0, "p-0")))
    finding = phantom(history)
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 2)


@pytest.mark.parametrize(
    ("changes", "known"),
    [
        ({}, {"t"}),
        ({"workload": {"producers": []}}, set()),
        ({"steps": [BY_REQUEST]}, set()),
        ({"workload": {}, "steps": [{"do": "produce", "topic": "t"}]}, {"t"}),
    ],
    ids=["workload", "no workload", "requests of a step", "a burst"],
)
def test_the_senders_of_a_topic_are_known_if_the_plan_alone_writes_to_it(
    changes: dict[str, Any], known: set[str]
) -> None:
    assert topics_of_known_senders(plan(**changes)) == known
