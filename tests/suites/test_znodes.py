"""Steps write into ZooKeeper what Kafka's own tools write there."""

from __future__ import annotations

import base64
import json

from fencepost.harness.plan.conditions.znode import Znode
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.suites import znodes


def written(step: object) -> tuple[str, str, object]:
    assert isinstance(step, ZnodeStep)
    return step.action, step.path, json.loads(step.data)


def test_a_topic_is_created_by_its_znode_and_awaited_by_its_last_state() -> None:
    create, led = znodes.create_topic("make", "grown", "id", ("node-4", "node-5"), ("node-5",))
    assert written(create) == (
        "create",
        "/brokers/topics/grown",
        {
            "version": 3,
            "topic_id": "id",
            "partitions": {"0": [4, 5], "1": [5]},
            "adding_replicas": {},
            "removing_replicas": {},
        },
    )
    assert isinstance(led, Znode) and led.path == "/brokers/topics/grown/partitions/1/state"


def test_a_topic_id_is_one_of_kafka_s_and_follows_from_the_seed() -> None:
    identity = znodes.topic_id(7, "t")
    assert len(base64.urlsafe_b64decode(identity + "==")) == 16
    assert identity == znodes.topic_id(7, "t") != znodes.topic_id(8, "t")


def test_a_reassignment_names_each_partition_with_its_new_replicas() -> None:
    assert written(znodes.reassign("move", {"a-b-0": ("node-6", "node-4")})) == (
        "create",
        "/admin/reassign_partitions",
        {"version": 1, "partitions": [{"topic": "a-b", "partition": 0, "replicas": [6, 4]}]},
    )


def test_a_preferred_election_names_each_partition() -> None:
    assert written(znodes.elect_preferred("prefer", "t-0", "t-12")) == (
        "create",
        "/admin/preferred_replica_election",
        {"version": 1, "partitions": [{"topic": "t", "partition": 0}, {"topic": "t", "partition": 12}]},
    )


def test_a_log_dir_event_is_a_sequential_znode_with_the_broker_in_it() -> None:
    step = znodes.log_dir_event("ours", "node-5")
    assert written(step) == (
        "create",
        "/log_dir_event_notification/log_dir_event_",
        {"version": 1, "broker": 5, "event": 1},
    )
    assert isinstance(step, ZnodeStep) and step.sequence
