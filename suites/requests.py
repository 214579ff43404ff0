"""Requests of clients and administrators that scenarios write out, as probes of one partition or one topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from fencepost.harness.network.addresses import PEER_PORT
from fencepost.harness.plan.base import After, ExpectOutcome
from fencepost.harness.plan.conditions.condition import LIVENESS_TIMEOUT_MS
from fencepost.suites.words import ApiProbe, ProduceProbe

FETCHED: Final = "responses[0].partitions[0]"
"""The path to what `fetched` asks for; the partition's `records` are a list with offset, key and value."""
LISTED: Final = "topics[0].partitions[0]"
"""The path to what `listed` asks for."""
PRODUCED: Final = "responses[0].partition_responses[0]"
"""The path to the answer to `produced`."""
FIRST, END, NEWEST = -2, -1, -3
"""Timestamps by which ListOffsets gives the first offset, the end that clients may read to, and the newest record."""
ANSWER_MS: Final = 5000
CHANGE_MS: Final = 10_000
"""The time that a change of voters is given."""
SET, DELETE = 0, 1
"""Operations of IncrementalAlterConfigs."""
RESOURCE_TYPES: Final = {"topic": 2, "broker": 4}
QUORUM: Final = "topics[0].partitions[0]"
"""The path to what `described_quorum` asks for."""
MOST_BYTES: Final = 1 << 20
WITH_RACK, BY_NAME = 11, 12
"""Versions of Fetch: the first with a rack, which followers serve, and the last by name."""


def produced_at(
    as_: str,
    node: str,
    acks: Literal[0, 1, "all"],
    expect: ExpectOutcome | None = None,
    *,
    topic: str = "t",
    after: str | None = None,
    **more: Any,
) -> ProduceProbe:
    """Produce single records to a named node at these acks. `after`: judge only those sent after this instant."""
    since = None if after is None else After(event=after)
    return ProduceProbe(as_=as_, node=node, acks=acks, topic=topic, expect=expect, after=since, **more)


def produced(as_: str, node: str, topic: str, records: Sequence[Mapping[str, Any]], **more: Any) -> ApiProbe:
    """Produce one batch at acks=all to partition 0; `producer` among `more` has its producer id, epoch, sequence.

    No checker expects these records to be read: the topic may delete them.
    """
    batch = {"records": [dict(record) for record in records], **more.pop("producer", {})}
    return ApiProbe(
        as_=as_,
        node=node,
        api="produce",
        version=9,
        body={
            "transactional_id": None,
            "acks": -1,
            "timeout": ANSWER_MS,
            "topic_data": [{"name": topic, "partition_data": [{"index": 0, "records": batch}]}],
        },
        **{"timeout_ms": ANSWER_MS, **more},
    )


def fetched(
    as_: str,
    node: str,
    topic: str,
    offset: int | str,
    *,
    version: int = BY_NAME,
    epoch: int | str = -1,
    wait_ms: int = 0,
    rack: str = "",
    **more: Any,
) -> ApiProbe:
    """Fetch partition 0 as a client, from a leader or a follower. Without `wait_ms` the answer comes at once."""
    partition = {
        "partition": 0,
        "current_leader_epoch": epoch,
        "fetch_offset": offset,
        "partition_max_bytes": MOST_BYTES,
    }
    body: dict[str, Any] = {
        "replica_id": -1,
        "max_wait": wait_ms,
        "min_bytes": 1 if wait_ms else 0,
        "max_bytes": MOST_BYTES,
        "isolation_level": 0,
        "topics": [{"topic": topic, "partitions": [partition]}],
        "forgotten_topics_data": [],
    }
    if version >= WITH_RACK:
        body["rack_id"] = rack
    return ApiProbe(as_=as_, node=node, api="fetch", version=version, body=body, **{"timeout_ms": ANSWER_MS, **more})


def listed(as_: str, node: str, topic: str, timestamp: int | str, **more: Any) -> ApiProbe:
    """Ask the leader for an offset of partition 0: FIRST, END, or that of the first record at or after a timestamp."""
    partition = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": timestamp}
    return ApiProbe(
        as_=as_,
        node=node,
        api="list_offsets",
        version=7,
        body={"replica_id": -1, "isolation_level": 0, "topics": [{"name": topic, "partitions": [partition]}]},
        **{"timeout_ms": ANSWER_MS, **more},
    )


def configured(
    as_: str,
    node: str,
    name: str,
    settings: Mapping[str, str | None],
    *,
    of: Literal["topic", "broker"] = "topic",
    operation: int = SET,
    validate_only: bool = False,
    **more: Any,
) -> ApiProbe:
    """Set keys of a topic, or give those up that are None; or only validate that.

    `of="broker"`: of the broker with this id, or of all brokers if `name` is empty.
    """
    configs = [
        {"name": key, "config_operation": DELETE if value is None else operation, "value": value}
        for key, value in settings.items()
    ]
    return ApiProbe(
        as_=as_,
        node=node,
        api="incremental_alter_configs",
        body={
            "resources": [{"resource_type": RESOURCE_TYPES[of], "resource_name": name, "configs": configs}],
            "validate_only": validate_only,
        },
        **{"timeout_ms": ANSWER_MS, **more},
    )


def described_quorum(as_: str, *, draft: bool = False, **more: Any) -> ApiProbe:
    """Ask the active controller for the voters of the quorum and its observers, each with the id of its directory.

    `draft`: by the name that the metadata log has in KIP-631.
    """
    topic = "__kafka_metadata" if draft else "__cluster_metadata"
    return ApiProbe(
        as_=as_,
        node="active-controller",
        api="describe_quorum",
        version=2,
        body={"topics": [{"topic_name": topic, "partitions": [{"partition_index": 0}]}]},
        **{"timeout_ms": ANSWER_MS, "within_ms": LIVENESS_TIMEOUT_MS, **more},
    )


def directory_bound(id: int, *, voter: bool = True) -> ApiProbe:
    """Bind `directory-1` to the id of controller 1's directory, once it is among the voters, or those without a vote.

    Apache Kafka knows a voter by both ids (KIP-853).
    """
    path = f"{QUORUM}.{'current_voters' if voter else 'observers'}[replica_id={id}]"
    return described_quorum(
        f"{'voter' if voter else 'observer'}-{id}",
        answer={f"{path}.replica_id": id},
        binds={f"directory-{id}": f"{path}.replica_directory_id"},
    )


def voter_added(
    as_: str, id: int, host: str, *, directory: str | None = None, change_ms: int = CHANGE_MS, **more: Any
) -> ApiProbe:
    """Give a controller a vote within `change_ms`. `directory` is the id of its directory, in a design that has one."""
    listener = {"name": "CONTROLLER", "host": host, "port": PEER_PORT}
    body = {"voter_id": id, "voter_directory_id": directory, "timeout": change_ms, "listeners": [listener]}
    return _change(as_, "add_raft_voter", body, more)


def voter_removed(
    as_: str, id: int, *, directory: str | None = None, cluster: str | None = None, **more: Any
) -> ApiProbe:
    """Take the vote of a controller. `directory` is the id of its directory, in a design that has one."""
    body = {"cluster_id": cluster, "voter_id": id, "voter_directory_id": directory}
    return _change(as_, "remove_raft_voter", body, more)


def _change(as_: str, api: str, body: dict[str, Any], more: Mapping[str, Any]) -> ApiProbe:
    """Ask the active controller until the change is committed; a new one first has to commit in its own epoch."""
    within = {"timeout_ms": CHANGE_MS + ANSWER_MS, "within_ms": LIVENESS_TIMEOUT_MS}
    return ApiProbe(as_=as_, node="active-controller", api=api, version=0, body=body, **{**within, **more})
