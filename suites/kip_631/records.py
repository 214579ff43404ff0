"""Each change of the cluster is the drafted record in the metadata log, which is read as an observer reads it."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631.metadata_log import log_holds, rules_hold
from fencepost.suites.kip_631.recorded_registrations import registered_at_a_high_port, shrunk

LEASE_MS = 3000
"""Long enough for leases to outlive a busy moment; the guest waits for the end of one."""
METADATA_TOPIC = "__kafka_metadata"
TOPIC, BROKER = 2, 4
"""Kafka's numbers of the resource types in ConfigRecord and in requests about settings."""
SET, DELETE = 0, 1


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
    listed = "topics[0].partitions[0]"
    return [
        v.ApiProbe(
            as_="one-partition",
            node="active-controller",
            api="describe_quorum",
            version=0,
            body={"topics": [{"topic_name": METADATA_TOPIC, "partitions": [{"partition_index": 0}]}]},
            answer={f"{listed}.error_code": 0, f"{listed}.current_voters[].replica_id": list(v.CONTROLLER_IDS)},
            timeout_ms=5000,
            within_ms=v.LIVENESS_TIMEOUT_MS,
            expect=v.serves("K631-11"),
        ),
        v.ApiProbe(
            as_="identified",
            node=leader,
            api="metadata",
            body={"topics": [{"name": "t"}]},
            binds={"t-id": "topics[0].topic_id"},
            timeout_ms=5000,
        ),
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
    settings = {"retention.ms": (TOPIC, "t"), "log.retention.ms": (BROKER, "")}
    steps: list[v.Step] = []
    for name, (kind, resource) in settings.items():
        for how, value in ((SET, "3600000"), (DELETE, None)):
            config = {"name": name, "config_operation": how, "value": value}
            steps.append(
                v.ApiProbe(
                    as_=f"{'set' if how == SET else 'unset'}-{name.replace('.', '-')}",
                    node=leader,
                    api="incremental_alter_configs",
                    body={"resources": [{"resource_type": kind, "resource_name": resource, "configs": [config]}]},
                    timeout_ms=5000,
                    expect=v.serves("ADM-04"),
                )
            )
        steps.append(
            log_holds(
                f"setting-{name.replace('.', '-')}",
                {"record": "ConfigRecord", "resource_type": kind, "resource_name": resource, "name": name},
                {"log[].value": ["3600000", None], "log[0].value": "3600000"},
                "K631-64",
                "D631-31",
            )
        )
    return steps


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
        v.ApiProbe(
            as_="not-listed",
            node=leader,
            api="metadata",
            body={"topics": [{"name": "placed"}]},
            answer={"topics[0].error_code": 3, "topics[0].partitions[].partition_index": []},
            timeout_ms=5000,
            within_ms=v.LIVENESS_TIMEOUT_MS,
            expect=v.serves("K631-68"),
        ),
        v.CreateTopicProbe(
            as_="name-free-again", node=leader, topic="placed", timeout_ms=5000, expect=v.serves("K631-68")
        ),
    ]
