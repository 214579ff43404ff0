"""The nodes and topics that `fencepost up` starts for each target."""

from __future__ import annotations

import pytest

from fencepost.harness.cli.interactive import described, interactive_plan
from fencepost.harness.plan.checks import problems
from tests.harness.sample_target import VISIBLE


@pytest.mark.parametrize("name", VISIBLE)
def test_every_target_has_a_cluster_to_break_by_hand(name: str) -> None:
    plan = interactive_plan(name)
    assert problems(plan) == []
    assert [node.name for node in plan.topology.nodes if node.start == "later"] == ["node-4b"]


def test_where_zookeeper_holds_the_state_its_servers_stand_in_for_controllers() -> None:
    assert described(interactive_plan("quorum")) == "3 controllers, 3 brokers"
    assert described(interactive_plan("zk-controller")) == "1 ZooKeeper server, 3 brokers"
    assert described(interactive_plan("zk-controller", servers=3)) == "3 ZooKeeper servers, 3 brokers"


def test_a_node_has_a_second_log_directory_where_one_can_fail() -> None:
    assert {node.log_dirs for node in interactive_plan("zk-controller").topology.nodes if "broker" in node.roles} == {2}
    assert {node.log_dirs for node in interactive_plan("quorum").topology.nodes} == {1}


def test_there_is_a_topic_to_play_with_that_every_broker_leads_a_part_of() -> None:
    [topic] = interactive_plan("quorum").topics
    assert sorted(assigned[0] for assigned in topic.assignments) == [4, 5, 6]


def test_a_plain_cluster_has_the_disks_and_the_clock_of_the_machine() -> None:
    nodes = interactive_plan("quorum", plain=True).topology.nodes
    assert {(node.disk, node.clock) for node in nodes} == {("plain", "machine")}
