"""Requests of administrators: those that only validate, mistakes, descriptions, changes of settings and of replicas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fencepost.suites import vocabulary as v

TOPIC, ABSENT = "t", "no-such-topic"
TOPICS = 2
"""The type of topics in requests about settings."""
LIMIT, DEFAULT_LIMIT = "200", "1048588"
"""Values of max.message.bytes: the one that a change sets, and the one that holds without."""
KEPT_MS = "7200000"
"""Value of retention.ms, which no change of another setting may change, nor one of the default of all brokers."""
DEFAULT = {"log.retention.ms": "3600000"}
SMALL, LARGE = "x" * 10, "x" * 300
"""Values of records, below and above the limit."""
ANSWER_MS = 5000
UNKNOWN_TOPIC, EXISTS, ILLEGAL_NAME = "error:3", "error:36", "error:17"
NO_MORE_PARTITIONS, TOO_MANY_REPLICAS, BAD_SETTING = "error:37", "error:38", "error:[40,42]"
BAD_REPLICAS, NOT_MOVED, TOO_LARGE = "error:39", "error:85", "error:10"
NO_BROKER = 99
"""An id that no broker has."""


@v.fault_scenario(
    "administrators-ask",
    "Requests of administrators are served, or refused with the error that names the mistake",
    seconds=14,
)
def asked(draft: v.Draft) -> v.Plan:
    """One broker is asked for everything, and all of them for what it changed.

    At last a replica is moved to a broker that does not reach the leader: that is cancelled, and done when it does.
    """
    target = draft.target
    leader, follower, other = brokers = draft.roles
    steps: list[v.Step] = [
        *_validated(leader),
        *_mistaken(leader),
        *(() if target.uses_zookeeper else _metadata_log_named(leader)),
        *_described(leader, brokers),
        *_settings_changed(leader, brokers),
        *(_moved(leader, follower, other, cancels=not target.leader_driven) if target.follows_its_documents else ()),
    ]
    replicas = v.topic([leader, follower], min_isr=1)
    config = {**replicas.config, "retention.ms": KEPT_MS}
    return draft.plan(
        steps,
        "whole",
        topology=v.smallest_cluster(target, leader),
        topics=[replicas.model_copy(update={"config": config})],
        workload=None,
        afterwards=[v.burst("afterwards", TOPIC, 10)],
    )


def _creation(name: str, replicas: int, *, validate_only: bool) -> dict[str, Any]:
    return {"topics": [v.new_topic(name, replicas)], "timeout": ANSWER_MS, "validate_only": validate_only}


def _growth(name: str, count: int, *, validate_only: bool) -> dict[str, Any]:
    topic = {"name": name, "count": count, "assignments": None}
    return {"topics": [topic], "timeout": ANSWER_MS, "validate_only": validate_only}


def _validated(leader: str) -> list[v.Step]:
    """Ask for changes that are only validated: the answer is that of the change, and nothing is changed."""
    served = v.serves("ADM-01")
    topics = {"topics": [{"name": TOPIC}], "allow_auto_topic_creation": False}
    return [
        v.ask("create-only", leader, "create_topics", _creation("v", 1, validate_only=True), served),
        v.ask("grow-only", leader, "create_partitions", _growth(TOPIC, 3, validate_only=True), served),
        v.configured("set-only", leader, TOPIC, {"max.message.bytes": LIMIT}, validate_only=True, expect=served),
        *(
            v.ask(f"{name}-only", leader, api, body, v.answers("ADM-01", error))
            for name, api, body, error in _mistakes(validate_only=True)
        ),
        v.MetadataProbe(as_="not-created", node=leader, topic="v", expect=v.answers("ADM-01", UNKNOWN_TOPIC)),
        v.ask("not-grown", leader, "metadata", topics, served, answer={"topics[0].partitions[].partition_index": [0]}),
        _values("not-set", leader, {"max.message.bytes": DEFAULT_LIMIT}, "ADM-01"),
    ]


def _mistakes(*, validate_only: bool) -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """Yield the mistakes in requests that can be validated only: a name, the API, the body and the error."""
    creations = (
        ("again", TOPIC, 1, EXISTS),
        ("too-many", "v", 9, TOO_MANY_REPLICAS),
        ("illegal", "a b", 1, ILLEGAL_NAME),
    )
    for name, topic, replicas, error in creations:
        yield name, "create_topics", _creation(topic, replicas, validate_only=validate_only), error
    for name, topic, error in (("same-count", TOPIC, NO_MORE_PARTITIONS), ("absent-grown", ABSENT, UNKNOWN_TOPIC)):
        yield name, "create_partitions", _growth(topic, 1, validate_only=validate_only), error
    for name, key, value in (("unknown-key", "no.such.key", "x"), ("bad-value", "max.message.bytes", "many")):
        configs = [{"name": key, "config_operation": 0, "value": value}]
        resource = {"resource_type": TOPICS, "resource_name": TOPIC, "configs": configs}
        yield name, "incremental_alter_configs", {"resources": [resource], "validate_only": validate_only}, BAD_SETTING


def _mistaken(leader: str) -> list[v.Step]:
    """Make mistakes: the error of each answer names it."""
    described = {"resources": [{"resource_type": TOPICS, "resource_name": ABSENT, "configuration_keys": None}]}
    partition = {"partition_index": 0, "replicas": [NO_BROKER]}
    moved = {"topics": [{"name": TOPIC, "partitions": [partition]}], "timeout": ANSWER_MS}
    cancelled = {"topics": [{"name": TOPIC, "partitions": [{**partition, "replicas": None}]}], "timeout": ANSWER_MS}
    deleted = {"topics": [{"name": TOPIC, "partitions": [{"partition_index": 0, "offset": 5}]}], "timeout": ANSWER_MS}
    more = [
        *_mistakes(validate_only=False),
        ("absent-described", "describe_configs", described, UNKNOWN_TOPIC),
        ("no-such-broker", "alter_partition_reassignments", moved, BAD_REPLICAS),
        ("nothing-to-cancel", "alter_partition_reassignments", cancelled, NOT_MOVED),
        ("beyond-the-end", "delete_records", deleted, "error:1"),
    ]
    steps: list[v.Step] = [
        v.ask(name, leader, api, body, v.answers("ADM-02", error)) for name, api, body, error in more
    ]
    steps.append(
        v.DeleteTopicProbe(as_="absent-deleted", node=leader, topic=ABSENT, expect=v.answers("ADM-02", UNKNOWN_TOPIC))
    )
    return steps


def _metadata_log_named(leader: str) -> list[v.Step]:
    """Ask for a topic that would share its name and its directory with the log of the controllers."""
    creation = _creation("__cluster_metadata", 1, validate_only=True)
    expect = v.answers("ADM-02", "error:[17,29,42]")
    return [v.ask("metadata-log", leader, "create_topics", creation, expect)]


def _described(leader: str, brokers: list[str]) -> list[v.Step]:
    """Ask for descriptions: each has what was asked for, and nothing else."""
    served = v.serves("ADM-03")
    ids = sorted(map(v.node_id, brokers))
    return [
        v.described("two-keys", leader, TOPIC, ["max.message.bytes", "retention.ms"], served),
        _values("their-values", leader, {"max.message.bytes": DEFAULT_LIMIT, "retention.ms": KEPT_MS}, "ADM-03"),
        v.described_log_dirs("log-dirs", leader, served, {"results[].topics[].name": [TOPIC]}, topic=TOPIC),
        v.ask("cluster", leader, "describe_cluster", {}, served, answer={"brokers[].broker_id": ids}),
    ]


def _values(as_: str, broker: str, values: Mapping[str, str], requirement: str) -> v.Step:
    """Claim the values of settings of the topic, by the description of this broker."""
    answer = {v.setting(key): value for key, value in values.items()}
    within = v.LIVENESS_TIMEOUT_MS
    return v.described(as_, broker, TOPIC, list(values), v.serves(requirement), answer=answer, within_ms=within)


def _settings_changed(leader: str, brokers: list[str]) -> list[v.Step]:
    """Change a setting, and give it up again: it takes effect, and the other one keeps its value."""
    served = v.serves("ADM-04")
    limited = {"max.message.bytes": LIMIT, "retention.ms": KEPT_MS}
    usual = {"max.message.bytes": DEFAULT_LIMIT, "retention.ms": KEPT_MS}
    within: dict[str, Any] = {"within_ms": v.LIVENESS_TIMEOUT_MS}
    return [
        v.produced("large-before", leader, TOPIC, [{"value": LARGE}], expect=served),
        v.configured("limit", leader, TOPIC, {"max.message.bytes": LIMIT}, expect=served),
        *(_values(f"limit-on-{broker}", broker, limited, "ADM-04") for broker in brokers),
        v.produced("large", leader, TOPIC, [{"value": LARGE}], expect=v.answers("ADM-04", TOO_LARGE), **within),
        v.produced("small", leader, TOPIC, [{"value": SMALL}], expect=served),
        v.configured("default-of-all", leader, "", DEFAULT, of="broker", expect=served),
        v.configured("no-limit", leader, TOPIC, {"max.message.bytes": None}, expect=served),
        *(_values(f"default-on-{broker}", broker, usual, "ADM-04") for broker in brokers),
        v.produced("large-again", leader, TOPIC, [{"value": LARGE}], expect=served, **within),
    ]


def _moved(leader: str, follower: str, other: str, *, cancels: bool) -> list[v.Step]:
    """Move a replica to a broker that does not reach the leader, cancel that, and move it there when it does.

    The design without controllers refuses to cancel what is under way, and completes it.
    """
    served, accepted = v.serves("ADM-05"), v.serves("ADM-02")
    partition = f"{TOPIC}-0"

    def has(as_: str, *replicas: str) -> v.Step:
        return v.AssignmentIs(as_=as_, partition=partition, is_=replicas, expect=v.must("ADM-05"))

    listing = {"topics": None, "timeout": ANSWER_MS}
    cancelled = [
        v.ReassignProbe(as_="cancel", node=leader, partition=partition, expect=accepted),
        has("as-before", leader, follower),
        v.ask("nothing-moves", leader, "list_partition_reassignments", listing, served, answer={"topics[].name": []}),
    ]
    refused = v.answers("ADM-02", "error:42")
    move_again = v.ReassignProbe(
        as_="move-again", node=leader, partition=partition, to=(leader, other), expect=accepted
    )
    assigned = {
        "topics": [{"name": TOPIC, "count": 2, "assignments": [{"broker_ids": [v.node_id(leader), v.node_id(other)]}]}]
    }
    return [
        v.ask(
            "grow", leader, "create_partitions", {**assigned, "timeout": ANSWER_MS, "validate_only": False}, accepted
        ),
        v.LeaderIs(as_="grown", partition=f"{TOPIC}-1", is_=leader, expect=v.must("ADM-05")),
        v.inject("unheard", v.CutParameters(from_=other, to=leader)),
        v.ReassignProbe(as_="move", node=leader, partition=partition, to=(leader, other), expect=accepted),
        *(cancelled if cancels else [v.ReassignProbe(as_="cancel", node=leader, partition=partition, expect=refused)]),
        v.Heal(as_="heard", fault="unheard"),
        *([move_again] if cancels else []),
        has("moved", leader, other),
        v.described_log_dirs(
            "left-nothing",
            follower,
            served,
            {"results[].topics[].name": []},
            topic=TOPIC,
            within_ms=v.LIVENESS_TIMEOUT_MS,
        ),
    ]
