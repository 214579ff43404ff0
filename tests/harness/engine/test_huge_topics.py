"""All partitions of a huge topic are compared between the brokers, once all else has converged."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.engine.huge_topics import Described, difference
from fencepost.harness.engine.run import run
from fencepost.harness.plan.base import Expect, ExpectOutcome, Level
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.model import Plan, TopicSpec, Topology
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.plan.topologies import brokers, controllers
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict

ALL = frozenset({4, 5})
HUGE = 20
"""A topic with more partitions counts as huge here: the nodes of a reference design have few processors."""


def described(leader: int = 4, isr: frozenset[int] = ALL, count: int = 3) -> Described:
    """Return partitions of which the second one may differ from the others."""
    return {f"huge-{each}": (leader, isr, ALL) if each == 1 else (5, ALL, ALL) for each in range(count)}


def test_brokers_that_describe_all_partitions_alike_agree() -> None:
    assert difference({"node-4": described(), "node-5": described()}, ALL) == ""


def test_a_single_partition_that_one_broker_describes_otherwise_is_named() -> None:
    message = difference({"node-4": described(), "node-5": described(leader=5)}, ALL)
    assert message == "node-5 and node-4 describe 1 partitions in two ways, huge-1 among them"


def test_a_partition_that_one_broker_lacks_is_a_difference() -> None:
    assert "huge-2" in difference({"node-4": described(), "node-5": described(count=2)}, ALL)


def test_a_partition_without_a_leader_or_with_a_replica_out_of_sync_is_named() -> None:
    assert "huge-1 with leader -1" in difference({"node-4": described(leader=-1)}, ALL)
    assert "ISR [4] of [4, 5]" in difference({"node-4": described(isr=frozenset({4}))}, ALL)


def test_a_broker_that_does_not_run_is_no_missing_replica() -> None:
    assert difference({"node-4": described(isr=frozenset({4}))}, frozenset({4})).startswith("node-4 describes huge-0")
    alone = {name: (4, frozenset({4}), ALL) for name in described()}
    assert difference({"node-4": alone}, frozenset({4})) == ""


@pytest.mark.integration
def test_no_broker_is_asked_for_a_huge_topic_before_the_end_and_all_of_it_is_compared_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.harness.plan.model.HUGE", HUGE)
    plan = Plan(
        scenario="huge",
        title="Huge topic",
        document="d",
        seed=1,
        target="quorum",
        topology=Topology(nodes=(*controllers((1,)), *brokers((4,)))),
        topics=(TopicSpec(name="t", assignments=((4,),), config={"min.insync.replicas": "1"}),),
        steps=(
            CreateTopicProbe(
                as_="create",
                node="node-4",
                topic="huge",
                partitions=HUGE + 1,
                replicas=1,
                timeout_ms=60_000,
                expect=ExpectOutcome(level=Level.MUST, requirement="LIVE-04", outcome="served"),
            ),
            Produce(as_="write", topic="huge", partition=HUGE, records=5, acks="all", timeout_ms=30_000),
            Converged(as_="whole", within_ms=120_000, expect=Expect(level=Level.MUST, requirement="LIVE-01")),
        ),
    )
    folder, verdict = run(plan, tmp_path)
    assert verdict.verdict is Verdict.PASS
    states = list(read_journal(folder.journal).of("state"))
    of_huge = [event for event in states if event.data.get("topic") == "huge" and event.data["what"] == "partition"]
    assert {event.node for event in of_huge} == {None}
    assert {event.data["partition"] for event in of_huge} == set(range(HUGE + 1))
