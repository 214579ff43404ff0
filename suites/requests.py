"""Requests of clients and administrators that scenarios write out, as probes of one partition or one topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from fencepost.harness.network.addresses import PEER_PORT
from fencepost.harness.plan.base import After, ExpectOutcome
from fencepost.harness.plan.conditions.condition import LIVENESS_TIMEOUT_MS
from fencepost.suites.expectations import serves
from fencepost.suites.words import ApiProbe, Produce, ProduceProbe

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


def ask(
    as_: str,
    node: str,
    api: str,
    body: Mapping[str, Any],
    expect: ExpectOutcome | None = None,
    *,
    version: int | None = None,
    **more: Any,
) -> ApiProbe:
    """Send a request that is written out, with time for its answer."""
    values = {"timeout_ms": ANSWER_MS, **more}
    return ApiProbe(as_=as_, node=node, api=api, version=version, body=dict(body), expect=expect, **values)


def ask_until(
    as_: str, node: str, api: str, body: Mapping[str, Any], expect: ExpectOutcome | None = None, **more: Any
) -> ApiProbe:
    """Send a request again until the answer is the expected one, as long as liveness allows."""
    return ask(as_, node, api, body, expect, within_ms=LIVENESS_TIMEOUT_MS, **more)


def burst(as_: str, topic: str, records: int, *, idempotent: bool = True) -> Produce:
    """Produce records through the leader at acks=all, one after the other, and expect that each is acknowledged."""
    return Produce(as_=as_, topic=topic, records=records, idempotent=idempotent, expect=serves("LIVE-03"))


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


def produced(
    as_: str,
    node: str,
    topic: str,
    records: Sequence[Mapping[str, Any]],
    *,
    acks: int = -1,
    timeout_ms: int = ANSWER_MS,
    producer: Mapping[str, Any] | None = None,
    **more: Any,
) -> ApiProbe:
    """Produce one batch to partition 0. `producer` has its producer id, epoch and base sequence.

    No checker expects these records to be read: the topic may delete them.
    """
    batch = {"records": [dict(record) for record in records], **(producer or {})}
    topic_data = [{"name": topic, "partition_data": [{"index": 0, "records": batch}]}]
    body = {"transactional_id": None, "acks": acks, "timeout": timeout_ms, "topic_data": topic_data}
    return ask(as_, node, "produce", body, version=9, timeout_ms=timeout_ms, **more)


def producer_id_given(node: str, expect: ExpectOutcome | None = None) -> ApiProbe:
    """Bind `id` to a new producer id, for a producer without transactions."""
    body = {"transactional_id": None, "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1}
    return ask_until("id", node, "init_producer_id", body, expect, version=4, binds={"id": "producer_id"})


def deleted_before(
    as_: str, node: str, topic: str, offset: int, expect: ExpectOutcome, *, wait_ms: int, **more: Any
) -> ApiProbe:
    """Delete the records of partition 0 before an offset; the answer says where the logs of all replicas begin now.

    `wait_ms`: for how long the leader waits for its followers.
    """
    topics = [{"name": topic, "partitions": [{"partition_index": 0, "offset": offset}]}]
    answer = {"topics[0].partitions[0].low_watermark": offset}
    body = {"topics": topics, "timeout": wait_ms}
    return ask(as_, node, "delete_records", body, expect, version=1, answer=answer, **more)


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
    follower: int = -1,
    **more: Any,
) -> ApiProbe:
    """Fetch partition 0, from a leader or a follower: as a client, or as the broker with the id `follower`.

    Without `wait_ms` the answer comes at once.
    """
    partition = {
        "partition": 0,
        "current_leader_epoch": epoch,
        "fetch_offset": offset,
        "partition_max_bytes": MOST_BYTES,
    }
    body: dict[str, Any] = {
        "replica_id": follower,
        "max_wait": wait_ms,
        "min_bytes": 1 if wait_ms else 0,
        "max_bytes": MOST_BYTES,
        "isolation_level": 0,
        "topics": [{"topic": topic, "partitions": [partition]}],
        "forgotten_topics_data": [],
    }
    if version >= WITH_RACK:
        body["rack_id"] = rack
    return ask(as_, node, "fetch", body, version=version, **more)


def listed(
    as_: str,
    node: str,
    topic: str,
    timestamp: int | str,
    *,
    version: int = 7,
    epoch: int | str | None = -1,
    **more: Any,
) -> ApiProbe:
    """Ask the leader for an offset of partition 0: FIRST, END, or that of the first record at or after a timestamp.

    `epoch` is the leader epoch that the client knows; None: the request does not name it.
    """
    known = {} if epoch is None else {"current_leader_epoch": epoch}
    partition = {"partition_index": 0, "timestamp": timestamp, **known}
    body = {"replica_id": -1, "isolation_level": 0, "topics": [{"name": topic, "partitions": [partition]}]}
    return ask(as_, node, "list_offsets", body, version=version, **more)


def configured(
    as_: str,
    node: str,
    name: str,
    settings: Mapping[str, str | None],
    *,
    of: Literal["topic", "broker"] = "topic",
    operation: int = SET,
    validate_only: bool | None = False,
    **more: Any,
) -> ApiProbe:
    """Set keys of a topic, or give those up that are None; or only validate that. None: the request does not say.

    `of="broker"`: of the broker with this id, or of all brokers if `name` is empty.
    """
    configs = [
        {"name": key, "config_operation": DELETE if value is None else operation, "value": value}
        for key, value in settings.items()
    ]
    resource = {"resource_type": RESOURCE_TYPES[of], "resource_name": name, "configs": configs}
    body = {"resources": [resource]} | ({} if validate_only is None else {"validate_only": validate_only})
    return ask(as_, node, "incremental_alter_configs", body, **more)


def described(
    as_: str, node: str, topic: str, keys: Sequence[str], expect: ExpectOutcome | None = None, **more: Any
) -> ApiProbe:
    """Ask for keys of a topic; without `answer`, for these and no others."""
    resource = {"resource_type": RESOURCE_TYPES["topic"], "resource_name": topic, "configuration_keys": list(keys)}
    values = {"answer": {"results[0].configs[].name": list(keys)}, **more}
    return ask(as_, node, "describe_configs", {"resources": [resource]}, expect, **values)


def described_log_dirs(
    as_: str,
    node: str,
    expect: ExpectOutcome | None,
    answer: Mapping[str, Any],
    *,
    topic: str | None = None,
    **more: Any,
) -> ApiProbe:
    """Ask for the log directories and the replicas in them, of all topics or of partition 0 of one."""
    topics = None if topic is None else [{"topic": topic, "partitions": [0]}]
    return ask(as_, node, "describe_log_dirs", {"topics": topics}, expect, answer=dict(answer), **more)


def listed_topics(
    as_: str, node: str, topics: Sequence[str], expect: ExpectOutcome | None = None, **more: Any
) -> ApiProbe:
    """Ask for the metadata of these topics, until the answer is the expected one; without topics, of the cluster."""
    return ask_until(as_, node, "metadata", {"topics": [{"name": topic} for topic in topics]}, expect, **more)


def setting(key: str) -> str:
    """Return the path to the value of a key in the answer to `described`."""
    return f"results[0].configs[name={key}].value"


def new_topic(name: str, replicas: int = 1) -> dict[str, Any]:
    """Return the part of CreateTopics for a topic of one partition."""
    return {"name": name, "num_partitions": 1, "replication_factor": replicas, "assignments": [], "configs": []}


def described_quorum(as_: str, *, draft: bool = False, **more: Any) -> ApiProbe:
    """Ask the active controller for the voters of the quorum and its observers, each with the id of its directory.

    `draft`: by the name that the metadata log has in KIP-631.
    """
    topic = "__kafka_metadata" if draft else "__cluster_metadata"
    body = {"topics": [{"topic_name": topic, "partitions": [{"partition_index": 0}]}]}
    values = {"version": 2, "within_ms": LIVENESS_TIMEOUT_MS, **more}
    return ask(as_, "active-controller", "describe_quorum", body, **values)


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
    values = {"timeout_ms": CHANGE_MS + ANSWER_MS, **more}
    return ask_until(as_, "active-controller", api, body, version=0, **values)
