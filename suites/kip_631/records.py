"""Each change of the cluster is the drafted record in the metadata log, which is read as an observer reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631.metadata_log import log_holds, rules_hold
from fencepost.suites.kip_631.recorded_registrations import registered_at_a_high_port, shrunk

LEASE_MS = 3000
"""Long enough for leases to outlive a busy moment; the guest waits for the end of one."""
TOPIC, BROKER = 2, 4
"""Kafka's numbers of the resource types in ConfigRecord and in requests about settings."""


@v.scenario(
    "changes-are-records",
    "Each change of the cluster is the drafted record in the metadata log",
    seconds=20,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def build(draft: v.Draft) -> v.Plan:
    """Register, create, configure, move, shrink, delete; after each change its record is there, with every field.

    The followers share a rack, so that placement by racks shows.
    """
    leader, first, second = draft.roles
    racks = {leader: "near", first: "far", second: "far"}
    ids = [v.node_id(leader), v.node_id(first), v.node_id(second)]
    steps: list[v.Step] = [
        *_found(leader, ids, racks),
        *_configured(leader),
        *_moved(ids, leader, second),
        *_placed(leader),
        *shrunk(ids, leader, second),
        *_deleted(leader),
        *registered_at_a_high_port(leader),
        *rules_hold("whole"),
        log_holds("whole", {}, {"versions": [1]}, "K631-19", "K631-11", "D631-28"),
    ]
    return draft.timed(lease_ms=LEASE_MS).plan(
        steps,
        "log-whole",
        v.acknowledged("restart.ended"),
        topology=v.in_racks(v.cluster_with_a_guest(), racks),
        topics=[v.topic([leader, first], min_isr=1)],
    )


def _found(leader: str, ids: list[int], racks: Mapping[str, str]) -> list[v.Step]:
    """Expect the records of what the cluster began with: its brokers, and the topic of the workload."""
    return [
        v.described_quorum(
            "one-partition",
            draft=True,
            version=0,
            answer={f"{v.QUORUM}.error_code": 0, f"{v.QUORUM}.current_voters[].replica_id": list(v.CONTROLLER_IDS)},
            expect=v.serves("K631-11"),
        ),
        v.ask("identified", leader, "metadata", {"topics": [{"name": "t"}]}, binds={"t-id": "topics[0].topic_id"}),
        v.Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        log_holds(
            "broker",
            {"record": "BrokerRecord", "broker_id": ids[0], "broker_epoch": "$epoch"},
            {
                "log[0].end_points[].name": ["CLIENT", "INTERNAL"],
                "log[0].end_points[name=INTERNAL].host": leader,
                "log[0].end_points[].port": [v.PEER_PORT, v.CLIENT_PORT],
                "log[0].end_points[].security_protocol": [0, 0],
                "log[0].rack": racks[leader],
            },
            "K631-61",
            "D631-32",
        ),
        log_holds(
            "topic",
            {"record": "TopicRecord", "name": "t"},
            {"log[].topic_id": ["$t-id"], "log[].deleting": [False]},
            "K631-62",
        ),
        log_holds(
            "partition",
            {"record": "PartitionRecord", "topic_id": "$t-id"},
            {
                "log[].partition_id": [0],
                "log[0].replicas": ids[:2],
                "log[0].isr": ids[:2],
                "log[0].leader": ids[0],
                "log[0].leader_epoch": 0,
                "log[0].adding_replicas": [],
                "log[0].removing_replicas": [],
            },
            "K631-63",
        ),
    ]


def _configured(leader: str) -> list[v.Step]:
    """Set a setting of the topic and one of all brokers, and remove both again."""
    return [
        *_set_and_unset(leader, "retention.ms", TOPIC, "t", of="topic"),
        *_set_and_unset(leader, "log.retention.ms", BROKER, "", of="broker"),
    ]


def _set_and_unset(leader: str, key: str, kind: int, resource: str, **of: Any) -> list[v.Step]:
    name, more = key.replace(".", "-"), {"validate_only": None, "expect": v.serves("ADM-04"), **of}
    record = {"record": "ConfigRecord", "resource_type": kind, "resource_name": resource, "name": key}
    values = {"log[].value": ["3600000", None], "log[0].value": "3600000"}
    return [
        v.configured(f"set-{name}", leader, resource, {key: "3600000"}, **more),
        v.configured(f"unset-{name}", leader, resource, {key: None}, **more),
        log_holds(f"setting-{name}", record, values, "K631-64", "D631-31"),
    ]


def _moved(ids: list[int], leader: str, second: str) -> list[v.Step]:
    """Move the partition from one follower to the other."""
    moved = {"record": "PartitionRecord", "topic_id": "$t-id"}
    return [
        v.ReassignProbe(
            as_="move", node=leader, partition="t-0", to=(leader, second), timeout_ms=5000, expect=v.serves("ADM-05")
        ),
        v.AssignmentIs(as_="moved", partition="t-0", is_=(leader, second), expect=v.must("ADM-05")),
        log_holds(
            "move-begun",
            {**moved, "adding_replicas": [ids[2]]},
            {
                "log[].replicas[]": sorted(ids),
                "log[0].replicas": [ids[0], ids[2], ids[1]],
                "log[0].removing_replicas": [ids[1]],
            },
            "K631-63",
        ),
        log_holds(
            "move-ended",
            {**moved, "replicas": [ids[0], ids[2]]},
            {
                "log[].leader": [ids[0]],
                "log[0].isr[]": sorted([ids[0], ids[2]]),
                "log[0].adding_replicas": [],
                "log[0].removing_replicas": [],
            },
            "K631-63",
        ),
    ]


def _placed(leader: str) -> list[v.Step]:
    """Create a topic whose replicas the controller places."""
    return [
        v.CreateTopicProbe(
            as_="create",
            node=leader,
            topic="placed",
            partitions=4,
            replicas=2,
            timeout_ms=5000,
            expect=v.serves("ADM-02"),
        ),
        log_holds(
            "placed",
            {"record": "TopicRecord", "name": "placed"},
            {"log[].deleting": [False], "broken[rule=spread-over-racks]": None},
            "D631-32",
            "K631-62",
            binds={"placed-id": "log[0].topic_id"},
        ),
    ]


def _deleted(leader: str) -> list[v.Step]:
    """Delete the topic that was placed: the request is answered when the topic is gone."""
    return [
        v.DeleteTopicProbe(as_="delete", node=leader, topic="placed", timeout_ms=5000, expect=v.serves("ADM-02")),
        log_holds(
            "gone",
            {"record": "DeleteTopicRecord", "name": "$placed-id"},
            {"log[].name": ["$placed-id"]},
            "K631-68",
            "D631-41",
            at_once=True,
        ),
        log_holds(
            "marked",
            {"record": "TopicRecord", "topic_id": "$placed-id"},
            {"log[].name": ["placed", "placed"], "log[0].deleting": False, "log[1].deleting": True},
            "D631-41",
            "K631-62",
        ),
        v.listed_topics(
            "not-listed",
            leader,
            ["placed"],
            v.serves("K631-68"),
            answer={"topics[0].error_code": 3, "topics[0].partitions[].partition_index": []},
        ),
        v.CreateTopicProbe(
            as_="name-free-again", node=leader, topic="placed", timeout_ms=5000, expect=v.serves("K631-68")
        ),
    ]
