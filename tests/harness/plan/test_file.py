"""A plan file is refused with the place and the remedy, and survives its round trip."""

from __future__ import annotations

import pytest

from fencepost.harness.plan.file import PlanError, dump_plan, parse_plan
from fencepost.harness.plan.hash import plan_hash

PLAN = """\
format: fencepost-plan/2
scenario: broker-cut
title: A broker cut from its controllers
document: KIP-631
seed: 1
target: quorum
topology:
  nodes:
  - {name: node-1, id: 1, index: 1, roles: [controller]}
  - {name: node-4, id: 4, index: 4, roles: [broker]}
  - {name: node-5, id: 5, index: 5, roles: [broker]}
  - {name: node-4b, id: 4, index: 14, roles: [broker], duplicate_of: node-4, start: later}
topics:
- {name: t, assignments: [[5, 4]], config: {min.insync.replicas: "2"}}
workload: {producers: [{name: p1, topic: t}], consumers: [{name: c1, topic: t}]}
steps:
- {do: bind, as: old, node: leader:t-0}
- {do: inject, as: cut, fault: cut, from: $old, to: controllers}
- {do: hold, after: cut.proven, ms: 1700}
- {do: probe, request: produce, topic: t, node: $old, expect: {level: never, outcome: served, requirement: K1}}
- {do: await, condition: leader, partition: t-0, is_not: $old, within_ms: 5000}
- {do: inject, as: twin, fault: duplicate, node: node-4b}
- {do: heal, fault: cut}
coverage:
- {that: acknowledged, after: cut.proven}
"""


def test_a_plan_survives_its_round_trip() -> None:
    plan = parse_plan(PLAN, "plan.yaml")
    again = parse_plan(dump_plan(plan), "again.yaml")
    assert again == plan
    assert dump_plan(again) == dump_plan(plan)
    assert plan_hash(again) == plan_hash(plan)


def test_the_hash_ignores_layout_and_sees_content() -> None:
    plan = parse_plan(PLAN, "plan.yaml")
    assert plan_hash(parse_plan("# a comment\n" + PLAN, "plan.yaml")) == plan_hash(plan)
    assert plan_hash(parse_plan(PLAN.replace("ms: 1700", "ms: 1701"), "plan.yaml")) != plan_hash(plan)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("assignments:", "assignment:", "unknown key `assignment` at plan.yaml:14; did you mean `assignments`?"),
        ("scenario:", "scenarrio:", "unknown key `scenarrio` at plan.yaml:2; did you mean `scenario`?"),
        ("$old, to:", "$old, too:", "unknown key `too` at plan.yaml:18; did you mean `to`?"),
        ("level: never", "levels: never", "unknown key `levels` at plan.yaml:20; did you mean `level`?"),
        ("seed: 1", "seed: one", "`seed` at plan.yaml:5: Input should be a valid integer"),
        ("seed: 1\n", "", "missing key `seed` at plan.yaml:1"),
        ("fault: cut, from", "fault: kut, from", "at plan.yaml:18: Input tag 'kut'"),
        ("outcome: served", "outcome: done", "`outcome` at plan.yaml:20: String should match pattern"),
        ("within_ms: 5000", "within_ms: -1", "`within_ms` at plan.yaml:21: Input should be greater than or equal to 0"),
        ("seed: 1", "seed: 1\nseed: 2", "found duplicate key"),
        ("target: quorum", "target: [quorum", "at plan.yaml:"),
        ("target: quorum", f"target: {'[' * 600}{']' * 600}", "more than 100 levels of nesting at plan.yaml:6"),
        ("target: quorum", f"target: {'[' * 600}", "at plan.yaml:6"),
        ("start: later", "start: latr", "not 'latr'; did you mean 'later'?"),
    ],
)
def test_a_wrong_file_is_refused_at_its_line(right: str, wrong: str, message: str) -> None:
    assert right in PLAN
    with pytest.raises(PlanError) as refused:
        parse_plan(PLAN.replace(right, wrong), "plan.yaml")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("name: node-5", "name: node-4", "a second node has the name `node-4` at plan.yaml:11"),
        ("index: 5", "index: 4", "a second node has the index `4` at plan.yaml:11"),
        ("id: 5", "id: 4", "node-5 has the id 4 of node-4"),
        (
            "index: 5, roles: [broker]",
            "index: 5, roles: [broker], controller_id: 2",
            "node-5 has one role, and one id: drop `controller_id`, or give it `roles: [broker, controller]`",
        ),
        (
            "index: 5, roles: [broker]",
            "index: 5, roles: [broker, controller], controller_id: 1",
            "node-5 has a controller with the id 1 of node-1",
        ),
        (
            "index: 5, roles: [broker]",
            "index: 5, roles: [broker, controller], controller_id: 5",
            "node-5 has a controller with the id 5 of node-5",
        ),
        ("duplicate_of: node-4,", "duplicate_of: node-9,", "unknown node `node-9`; known: node-1"),
        ("duplicate_of: node-4,", "duplicate_of: node-5,", "node-4b duplicates node-5 but has another id"),
        ("[[5, 4]]", "[[5, 6]]", "t-0 is assigned to broker 6, which does not exist at plan.yaml:14"),
        ("[[5, 4]]", "[[5, 5]]", "t-0 is assigned twice to one broker"),
        ("name: p1, topic: t", "name: p1, topic: u", "unknown topic `u`; known: t at plan.yaml:15"),
        ("leader:t-0", "leader:t-1", "unknown partition `t-1`; known: t-0 at plan.yaml:17"),
        ("from: $old", "from: $new", "no bind `new` comes before this; so far: old at plan.yaml:18"),
        ("node: $old", "node: node-7", "unknown node `node-7`"),
        ("after: cut.proven, ms", "after: cutt.proven, ms", "no step `cutt` comes before this; so far: cut, old"),
        ("after: cut.proven, ms", "after: old.proven, ms", "`old` is not a fault"),
        ("as: twin", "as: cut", "a second step is named `cut` at plan.yaml:22"),
        (
            "fault: cut}",
            "fault: cut}\n- {do: probe, request: delete-topic, topic: t, node: node-4}",
            "p1 has `acks: all` on t, which step-08 deletes with all acknowledged records",
        ),
        ("that: acknowledged, after", "that: acknowledged, by: p9, after", "unknown producer `p9`; known: p1"),
        ("node: $old, expect", "node: none, expect", "unknown node `none`"),
        ("leader, partition: t-0, is_not: $old", "active-controller, is: none", "unknown node `none`"),
        ("leader, partition: t-0, is_not: $old", "isr, partition: t-0, is: none", "unknown node `none`"),
        ("partition: t-0, is_not", "partition: t-7, is_not", "unknown partition `t-7`; known: t-0"),
        ("node: $old, expect", "node: $old, unchanged: [t-7], expect", "unknown partition `t-7`; known: t-0"),
        ("fault: cut}", "fault: gap}", "no fault `gap` comes before this; so far: cut, twin at plan.yaml:23"),
        ("node: node-4b", "node: node-4", "node-4 is not a duplicate to start"),
        ("that: acknowledged, after: cut.proven", "that: proven, fault: gap", "unknown fault `gap`"),
    ],
)
def test_a_plan_that_cannot_mean_anything_is_refused(right: str, wrong: str, message: str) -> None:
    assert right in PLAN
    with pytest.raises(PlanError) as refused:
        parse_plan(PLAN.replace(right, wrong, 1), "plan.yaml")
    assert message in str(refused.value)


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(PlanError) as refused:
        parse_plan(PLAN.replace("seed: 1", "seed: one").replace("assignments:", "assignment:"), "plan.yaml")
    assert len(refused.value.messages) == 2


ZOOKEEPER_PLAN = """\
format: fencepost-plan/2
scenario: rolls
title: Rolled while a directory fails
document: KIP-343
seed: 1
target: zk-controller
level: heartbeats
security: sasl
topology:
  controller: node-5
  nodes:
  - {name: zk-1, id: 1, index: 1, roles: [zookeeper]}
  - {name: node-4, id: 4, index: 4, roles: [broker], log_dirs: 2}
  - {name: node-5, id: 5, index: 5, roles: [broker], level: base}
topics:
- {name: t, assignments: [[5, 4]]}
steps:
- {do: bind, as: epoch, value: controller-epoch}
- {do: shutdown, nodes: node-4, until: asked}
- {do: start, nodes: node-4}
- {do: roll, node: node-5, level: base, how: kill}
- {do: znode, action: create, path: /admin/delete_topics/t}
- {do: inject, as: dir, fault: log-dir, node: node-4, partition: t-0, how: removed}
- {do: await, condition: leader, partition: t-0, is: none, within_ms: 10}
- {do: inject, as: cut, fault: cut, from: zookeeper-leader, to: zookeeper}
- {do: await, condition: registered, node: node-4, is: false, within_ms: 10}
- {do: await, condition: znode, path: /controller, has: '"brokerid":5', within_ms: 10}
- {do: await, condition: assignment, partition: t-0, is: [node-4, node-5], within_ms: 10}
- {do: await, condition: replica-offline, partition: t-0, node: node-4, asked: node-5, within_ms: 10}
- {do: probe, request: leader-and-isr, node: node-4, topic: t, controller_epoch: $epoch, leader: none, isr: [node-4]}
- {do: probe, request: update-metadata, node: node-4, broker_epoch: stale}
- {do: probe, request: stop-replica, node: node-4, topic: t, delete: true}
- {do: probe, request: controlled-shutdown, node: active-controller, broker: node-4}
- {do: probe, request: metadata-heartbeat, node: active-controller, broker: node-4, incarnation: -1}
- {do: probe, request: isr-change, node: active-controller, broker: node-5, topic: t, isr: none}
- {do: probe, request: replica-state-event, node: active-controller, broker: node-4, user: alice, topics: [{topic: t}]}
- {do: probe, request: delete-topic, node: active-controller, topic: t}
"""


def test_a_plan_with_zookeeper_survives_its_round_trip() -> None:
    plan = parse_plan(ZOOKEEPER_PLAN, "plan.yaml")
    assert parse_plan(dump_plan(plan), "again.yaml") == plan


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("controller: node-5", "controller: zk-1", "unknown broker `zk-1`; known: node-4, node-5"),
        ("roles: [zookeeper]}", "roles: [zookeeper, broker]}", "zk-1 is a ZooKeeper server: drop its other roles"),
        ("roles: [zookeeper]}", "roles: [zookeeper], duplicate_of: node-4}", "which cannot be duplicated"),
        (
            "shutdown, nodes: node-4",
            "shutdown, nodes: node-5",
            "node-4 starts with the cluster: give it `start: later`",
        ),
        ("security: sasl\n", "", "`user` needs a plan with logins, such as `security: sasl`"),
        ("partition: t-0, how: removed", "partition: t-0, dir: 1", "named by either `partition` or `dir`"),
        ("partition: t-0, how: removed", "how: removed", "named by either `partition` or `dir`"),
        ("has: '\"brokerid\":5'", "exists: false, has: x", "a znode that does not exist has no data"),
        ("asked: node-5", "asked: node-9", "unknown node `node-9`"),
        ("isr: [node-4]", "isr: [none]", "unknown node `none`"),
        ("controller_epoch: $epoch", "controller_epoch: $epok", "no bind `epok` comes before this"),
        ("path: /controller", "path: controller", "String should match pattern"),
    ],
)
def test_a_plan_with_zookeeper_that_cannot_mean_anything_is_refused(right: str, wrong: str, message: str) -> None:
    assert right in ZOOKEEPER_PLAN
    with pytest.raises(PlanError) as refused:
        parse_plan(ZOOKEEPER_PLAN.replace(right, wrong, 1), "plan.yaml")
    assert message in str(refused.value)


def test_servers_of_zookeeper_have_an_id_space_of_their_own() -> None:
    parse_plan(ZOOKEEPER_PLAN.replace("name: zk-1, id: 1,", "name: zk-1, id: 4,"), "plan.yaml")


def test_a_process_of_two_roles_has_an_id_for_each_and_survives_its_round_trip() -> None:
    both = PLAN.replace("index: 5, roles: [broker]", "index: 5, roles: [broker, controller], controller_id: 2")
    plan = parse_plan(both, "plan.yaml")
    assert (plan.node("node-5").id, plan.node("node-5").quorum_id) == (5, 2)
    assert plan.node("node-1").quorum_id == 1
    assert parse_plan(dump_plan(plan), "again.yaml") == plan
