"""Records that were acknowledged at acks=all while fewer replicas ran than min.insync.replicas."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.harness.checkers.history import read_history
from fencepost.harness.checkers.too_few_alive import too_few_alive
from fencepost.harness.checkers.topic_requests import topic_requests
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

NODES = [{"name": f"node-{id}", "id": id, "index": id, "roles": ["broker"]} for id in (4, 5, 6)]
TWIN = {"name": "node-5b", "id": 5, "index": 9, "roles": ["broker"], "duplicate_of": "node-5"}
TOPIC = {"name": "t", "assignments": [[4, 5, 6]], "config": {"min.insync.replicas": "2"}}


def judged(builder: JournalBuilder, **changes: Any) -> Finding:
    of, journal = plan(**{"topology": {"nodes": NODES}, "topics": [TOPIC], **changes}), builder.journal()
    return too_few_alive(of, journal, read_history(journal), TopicsAtEnd(requests=tuple(topic_requests(of, journal))))


def started(*nodes: str) -> JournalBuilder:
    builder = JournalBuilder()
    for node in nodes or ("node-4", "node-5", "node-6"):
        builder.event("node", node, "intent").event("node", node, "started").event("node", node, "ready")
    return builder


def ended(builder: JournalBuilder, *nodes: str, how: str = "killed") -> JournalBuilder:
    for node in nodes:
        builder.event("node", node, how)
    return builder


@pytest.mark.requirement("ISR-08")
@pytest.mark.parametrize("how", ["killed", "exited", "stopped"])
def test_a_leader_that_is_left_alone_acknowledges_nothing(how: str) -> None:
    finding = judged(ended(started().send("a"), "node-5", "node-6", how=how).send("b", 7))
    assert (finding.verdict, finding.requirement, finding.evidence["judged"]) == (Verdict.VIOLATION, "ISR-08", 1)
    assert "1 records were acknowledged" in finding.message and "the first to t-0: of 2, 4 ran" in finding.message
    assert finding.counterexample is not None and finding.counterexample.rows[0][:3] == ("t-0", 7, "b")


@pytest.mark.parametrize("outcome", ["fail", "info"])
def test_what_it_refuses_is_judged_and_right(outcome: str) -> None:
    finding = judged(ended(started(), "node-5", "node-6").send("b", outcome=outcome, error="NOT_ENOUGH_REPLICAS"))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 1)


def test_a_replica_that_ran_for_a_part_of_the_send_may_hold_the_record() -> None:
    def sent(then: Any) -> Finding:
        builder = ended(started(), "node-6")
        data = {"process": "p", "f": "send", "topic": "t", "partition": 0, "value": "v", "acks": "all"}
        builder.event("op", "send", "invoke", data | {"idempotent": True})
        then(builder).event("op", "send", "ok", data | {"offset": 0, "idempotent": True})
        return judged(builder)

    assert sent(lambda builder: ended(builder, "node-5")).evidence["judged"] == 0, "it ended meanwhile"
    again = sent(lambda builder: ended(builder, "node-5").event("node", "node-6", "intent"))
    assert again.evidence["judged"] == 0, "one after the other"


def test_a_process_that_is_paused_and_one_with_the_same_id_count_as_replicas_that_run() -> None:
    paused = started().event("node", "node-5", "paused").event("node", "node-6", "paused")
    assert judged(paused.send("a", 1)).evidence["judged"] == 0
    twin = ended(started(), "node-5", "node-6").event("node", "node-5b", "intent").send("a", 1)
    assert judged(twin, topology={"nodes": [*NODES, TWIN]}).evidence["judged"] == 0


def test_nodes_of_which_the_journal_has_no_events_may_run() -> None:
    assert judged(JournalBuilder().send("a", 1)).evidence["judged"] == 0


def test_other_acks_and_enough_replicas_are_not_judged() -> None:
    alone = ended(started(), "node-5", "node-6")
    assert judged(alone.send("a", 1, acks="1")).evidence["judged"] == 0
    two = ended(started(), "node-6").send("a", 1)
    assert judged(two).evidence["judged"] == 0
    one = {**TOPIC, "config": {"min.insync.replicas": "1"}}
    assert judged(ended(started(), "node-5", "node-6").send("a", 1), topics=[one]).evidence["judged"] == 0
    unknown = {**TOPIC, "config": {}}
    assert judged(ended(started(), "node-5", "node-6").send("a", 1), topics=[unknown]).evidence["judged"] == 0


@pytest.mark.parametrize(
    "step",
    [
        {
            "request": "api",
            "api": "incremental_alter_configs",
            "body": {"resources": [{"resource_type": 2, "resource_name": "t", "configs": []}]},
        },
        {
            "request": "api",
            "api": "alter_partition_reassignments",
            "body": {"topics": [{"name": "t", "partitions": []}]},
        },
        {"request": "delete-topic", "topic": "t"},
    ],
    ids=["settings", "replicas", "deleted"],
)
def test_topics_that_steps_change_are_left_out(step: dict[str, Any]) -> None:
    builder = ended(started(), "node-5", "node-6").event("op", "ask", "invoke", {"f": "probe", "step": "ask"})
    steps = [{"do": "probe", "as": "ask", "node": "node-4", **step}]
    assert judged(builder.send("b", 7)).verdict is Verdict.VIOLATION
    assert judged(builder, steps=steps).evidence["judged"] == 0
