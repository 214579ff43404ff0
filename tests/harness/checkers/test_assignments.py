"""Replicas that changed without a request."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.harness.checkers.assignments import replicas_as_asked
from fencepost.harness.checkers.topic_requests import topic_requests
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.judge import judge
from fencepost.harness.plan.znodes import reassign
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

MOVE = {"do": "probe", "as": "move", "request": "reassign", "node": "node-4", "partition": "t-0", "to": ["node-4"]}
MOVE_BY_API = {
    "do": "probe",
    "as": "move",
    "request": "api",
    "node": "node-4",
    "api": "alter_partition_reassignments",
    "body": {"topics": [{"name": "t", "partitions": [{"partition_index": 0, "replicas": [4]}]}]},
}
MOVE_BY_ZNODE = reassign("move", {"t-0": [4]}).model_dump(by_alias=True)
DELETE = {"do": "probe", "as": "drop", "request": "delete-topic", "node": "node-4", "topic": "t"}


def decided(*replicas: list[int] | None, topic: str = "t") -> JournalBuilder:
    """The replicas of a partition, one state after the other; None: not known."""
    builder = JournalBuilder().event("run", "r", "begin")
    for each in replicas:
        data: dict[str, Any] = {"what": "partition", "topic": topic, "partition": 0, "leader": 4, "leader_epoch": 0}
        builder.event("state", "log", "seen", data | {"isr": [4]} | ({} if each is None else {"replicas": each}))
    return builder


def judged(builder: JournalBuilder, *steps: dict[str, Any], forgotten_by: str = "") -> Finding:
    its_plan, journal = plan(steps=list(steps)), builder.journal()
    requests = tuple(topic_requests(its_plan, journal))
    return replicas_as_asked(its_plan, journal, TopicsAtEnd(requests=requests, forgotten_by=forgotten_by))


@pytest.mark.requirement("TOPIC-04")
def test_a_partition_that_lost_a_replica_is_seen_though_all_else_is_whole() -> None:
    builder = decided([4, 5], [4])
    finding = judged(builder)
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.VIOLATION, 2)
    assert finding.message.startswith("t-0 has the replicas 4 at ")
    verdict = judge(plan(), builder.event("run", "r", "end").journal())
    assert any(each.requirement == "TOPIC-04" and each.verdict is Verdict.VIOLATION for each in verdict.findings)


@pytest.mark.requirement("TOPIC-04")
def test_replicas_that_came_back_were_away_all_the_same() -> None:
    assert judged(decided([4, 5], [4, 6], [4, 5])).verdict is Verdict.VIOLATION


def test_the_order_of_replicas_is_no_matter() -> None:
    finding = judged(decided([4, 5], [5, 4]))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 2)


@pytest.mark.parametrize("step", [MOVE, MOVE_BY_API, MOVE_BY_ZNODE], ids=["probe", "api", "znode"])
def test_a_partition_that_a_step_moves_is_not_judged(step: dict[str, Any]) -> None:
    finding = judged(decided([4, 5], [4]), step)
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 0)


def test_a_move_of_another_partition_excuses_nothing() -> None:
    assert judged(decided([4, 5], [4]), {**MOVE, "partition": "u-0"}).verdict is Verdict.VIOLATION


def test_a_topic_that_may_have_been_created_anew_is_not_judged() -> None:
    builder = decided([4, 5], [4])
    builder.event("op", "probe-drop", "invoke", {"f": "probe", "step": "drop"})
    assert judged(builder, DELETE).evidence["judged"] == 0


@pytest.mark.parametrize("builder", [decided(None), decided([6], topic="another")], ids=["unknown", "not planned"])
def test_what_was_not_given_by_the_plan_or_not_shown_is_not_judged(builder: JournalBuilder) -> None:
    assert judged(builder).evidence["judged"] == 0


def test_what_a_voter_may_have_forgotten_is_not_held_against_the_target() -> None:
    assert judged(decided([4, 5], [4]), forgotten_by="wiped").verdict is Verdict.INCONCLUSIVE
    assert judged(decided([4, 5]), forgotten_by="wiped").verdict is Verdict.PASS
