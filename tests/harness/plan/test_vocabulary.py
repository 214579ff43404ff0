"""Conditions, faults and topics of a plan, and how a mistake in them is refused."""

from __future__ import annotations

import pytest

from fencepost.harness.plan.file import PlanError, dump_plan, parse_plan

PLAN = """\
format: fencepost-plan/2
scenario: moved
title: A partition is moved
document: Kafka replication V2
seed: 1
target: leader-driven
topology:
  nodes:
  - {name: zk-1, id: 1, index: 1, roles: [zookeeper]}
  - {name: node-4, id: 4, index: 4, roles: [broker]}
  - {name: node-5, id: 5, index: 5, roles: [broker]}
topics:
- {name: t, assignments: [[5, 4]]}
- {name: many, assignments: [[4], [5]], prepared: true}
workload: {producers: [{name: p1, topic: t}]}
steps:
- {do: probe, request: reassign, as: move, node: node-4, partition: t-0, to: [node-4], background: true}
- {do: inject, fault: kill, as: kill, nodes: leader:t-0, when: {says: "step [a-z-]+", since: move.begun}}
- {do: await, condition: logged, node: node-5, says: "start-replica", within_ms: 100, after: {event: kill.proven}}
- {do: await, condition: watches, kind: leader, count: 3, within_ms: 100}
- {do: await, condition: backlog, node: node-4, at_least: 1, within_ms: 100}
- {do: await, condition: checkpoint, node: node-4, partition: t-0, is: 7, within_ms: 100}
- {do: await, condition: log-end, node: node-4, partition: t-0, at_most: 7, within_ms: 100}
- {do: probe, request: create-partitions, node: node-4, topic: t, count: 2}
- {do: probe, request: list-reassignments, node: node-4}
- {do: heal, fault: kill}
- {do: inject, fault: stall, as: hush, from: "leader:t-0", to: brokers, plus_ms: 20, when: {says: x, node: node-4}}
- do: inject
  fault: pause
  as: nap
  nodes: followers:t-0
  when: {condition: isr-shrunk, partition: t-0, within_ms: 900, after: {event: kill.healed}}
"""


def test_the_words_survive_their_round_trip() -> None:
    plan = parse_plan(PLAN, "plan.yaml")
    assert parse_plan(dump_plan(plan), "again.yaml") == plan
    assert plan.prepared_topics == {"many"}
    assert plan.prepared_seconds == pytest.approx(0.04)


def test_a_condition_is_awaited_for_half_a_minute_unless_the_plan_says_otherwise() -> None:
    plan = parse_plan(PLAN.replace("within_ms: 900, ", ""), "plan.yaml")
    assert dump_plan(plan) == dump_plan(parse_plan(PLAN.replace("within_ms: 900", "within_ms: 30000"), "plan.yaml"))


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("step [a-z-]+", "step [a-z-+", "`says` at plan.yaml:18: step [a-z-+ is not a regular expression"),
        ("since: move.begun", "since: moved.begun", "no step `moved` comes before this; so far: move at plan.yaml:18"),
        ("nodes: leader:t-0, when", "nodes: [node-4, node-5], when", "`when` reads the log of one node"),
        ('says: "start', 'within: 1, says: "start', "unknown key `within` at plan.yaml:19; did you mean `within_ms`?"),
        ("says: x, node: node-4", "says: x", "name it, `when: {node: node-4, says: …}` at plan.yaml:27"),
        ("says: x, node: node-4", "says: x, node: node-7", "unknown node `node-7`"),
        ("says: x, node: node-4", "says: x, node: brokers", "`when` reads the log of one node"),
        (", when: {says: x, node: node-4}", "", "`plus_ms` counts from `when`, which is missing"),
        ("partition: t-0, within_ms: 900", "partition: u-0, within_ms: 900", "unknown partition `u-0`"),
        ("within_ms: 900", "is: node-9, within_ms: 900", "unknown key `is` at plan.yaml:32"),
        ("isr-shrunk", "isr-shrink", "at plan.yaml:32: Input tag 'isr-shrink'"),
        (
            "within_ms: 900",
            "within_ms: 900, as: gone",
            "`as` belongs to an await step: the condition of a fault claims",
        ),
        ("event: kill.healed", "event: keel.healed", "no step `keel` comes before this; so far: hush, kill, move"),
        (
            "count: 3, within_ms: 100",
            "count: 3, expect: {level: never, requirement: LIVE-01}",
            "what must never come true is watched for a time: add `within_ms`",
        ),
        (
            "kill.proven}",
            "kill.proven, plus_ms: 5}",
            "the length of a log is recorded at instants only, not between them",
        ),
        ("kind: leader", "kind: queue", "'leader', 'other', 'children' or 'any'"),
        ("kind: leader", "kind: any, topics: t", "`topics` applies to `kind: leader` only"),
        ("at_least: 1, ", "", "no bound is given: add `is`, `at_least` or `at_most`"),
        ("is: 7", "is: -7", "`is` at plan.yaml:22"),
        ("to: [node-4]", "to: [node-7]", "unknown node `node-7`"),
        ("partition: t-0, to", "partition: t, to", "`partition` at plan.yaml:17"),
        ("count: 2}", "count: 0}", "`count` at plan.yaml:24"),
        ("name: p1, topic: t", "name: p1, topic: many", "p1 uses many, which is `prepared`"),
    ],
)
def test_what_cannot_mean_anything_is_refused_with_its_line(right: str, wrong: str, message: str) -> None:
    assert right in PLAN
    with pytest.raises(PlanError) as refused:
        parse_plan(PLAN.replace(right, wrong, 1), "plan.yaml")
    assert message in str(refused.value)
