"""Values of answers that differ by nature, by kind of field: what is left of them is that there is one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any


class Mask(StrEnum):
    """A kind of fields whose values mean nothing to another cluster."""

    ID = "id"
    """Made up by the broker: of topics, clusters, members, producers, sessions."""
    BROKER = "broker"
    """The id of a broker: its place among the brokers is left."""
    EPOCH = "epoch"
    """A number that grows with events that a client does not see."""
    TIME = "time"
    ADDRESS = "address"
    WORDS = "words"
    """A message for people, which no protocol lays down."""
    SIZE = "size"
    """Bytes on a disk, and the place there."""
    VERSIONS = "versions"
    """The versions of requests and features, which each release has of its own."""


FIELDS: Mapping[Mask, frozenset[str]] = {
    Mask.ID: frozenset(
        {"cluster_id", "topic_id", "member_id", "leader", "producer_id", "session_id", "client_instance_id"}
        | {"subscription_id", "token_id", "hmac", "directory_id", "replica_directory_id", "active_producers"}
    ),
    Mask.BROKER: frozenset(
        {"node_id", "broker_id", "leader_id", "controller_id", "replica_nodes", "isr_nodes", "offline_replicas"}
        | {"replicas", "broker_ids", "preferred_read_replica", "resource_name", "coordinator_id"}
    ),
    Mask.EPOCH: frozenset(
        {"leader_epoch", "controller_epoch", "broker_epoch", "member_epoch", "group_epoch", "assignment_epoch"}
        | {"coordinator_epoch", "last_fetched_epoch", "share_session_epoch"}
    ),
    Mask.TIME: frozenset(
        {"throttle_time", "timestamp", "log_append_time", "max_timestamp", "last_timestamp", "transaction_start_time"}
        | {
            "expiry_timestamp",
            "issue_timestamp",
            "max_timestamp_ms",
            "last_fetch_timestamp",
            "last_caught_up_timestamp",
        }
        | {"retry_backoff", "push_interval"}
    ),
    Mask.ADDRESS: frozenset({"host", "port", "rack", "client_host", "listeners", "node_endpoints", "leader_endpoint"}),
    Mask.WORDS: frozenset({"error_message", "batch_index_error_message", "documentation", "client_id"}),
    Mask.SIZE: frozenset({"log_dir", "partition_size", "offset_lag", "total_bytes", "usable_bytes"}),
    Mask.VERSIONS: frozenset(
        {"api_keys", "supported_features", "finalized_features", "zk_migration_ready"} | {"finalized_features_epoch"}
    ),
}
"""The fields of each kind, by their names in snake case."""

_KIND: Mapping[str, Mask] = {field: kind for kind, fields in FIELDS.items() for field in fields}
_WHATEVER = frozenset({Mask.WORDS, Mask.VERSIONS})
"""Kinds of which it does not matter either whether there is a value."""
_MEASURED = frozenset({"throttle_time", "offset_lag"})
_NO_ID = frozenset({"", "00000000-0000-0000-0000-000000000000"})
_UUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")
_UNORDERED = frozenset({"isr_nodes", "offline_replicas", "authorized_operations"})
_NAMES = (
    *("name", "topic", "topic_name", "group_id", "transactional_id", "resource_name", "key"),
    *("partition_index", "partition", "partition_id", "index", "group", "config_name"),
)
"""The fields that tell the items of a list apart. Items with one are in no order that matters."""
_IN_ORDER = frozenset({"records"})


def masked(answer: Any, brokers: Sequence[int] = ()) -> Any:
    """Return the answer with what differs by nature as `<kind>`, and lists without an order that matters sorted.

    `brokers` are the ids of the cluster's brokers, the first of which is `<broker 1>` in every cluster.
    """
    return _value("", answer, {str(id): f"<broker {place}>" for place, id in enumerate(brokers, 1)})


def _value(field: str, value: Any, brokers: Mapping[str, str]) -> Any:
    kind = _KIND.get(field)
    if kind is Mask.BROKER:
        return _broker(field, value, brokers)
    if kind in _WHATEVER or field in _MEASURED:
        return f"<{kind}>"
    match value:
        case Mapping():
            return {key: _value(key, each, brokers) for key, each in value.items()}
        case list():
            items = [_value(field, each, brokers) for each in value]
            return sorted(items, key=_order) if field not in _IN_ORDER and _has_names(items) else items
    if isinstance(value, str) and value not in _NO_ID and _UUID.fullmatch(value):
        return f"<{Mask.ID}>"
    if kind is None or value is None or value in _NO_ID or (isinstance(value, int) and value < 0):
        return value
    return f"<{kind}>"


def _broker(field: str, value: Any, brokers: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        named = [_broker(field, each, brokers) for each in value]
        return sorted(named, key=str) if field in _UNORDERED else named
    if isinstance(value, Mapping):
        return _value("", value, brokers)
    return brokers.get(str(value), value)


def _has_names(items: Sequence[Any]) -> bool:
    return all(isinstance(each, Mapping) and any(name in each for name in _NAMES) for each in items)


def _order(item: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return the key of an item: numbers in their order, and before texts."""
    found = (item[name] for name in _NAMES if name in item)
    return [(value, "") if isinstance(value, int) else (0, str(value)) for value in found]


def used(answer: Any) -> frozenset[Mask]:
    """Return the kinds that were masked in an answer that `masked` returned."""
    named = set(re.findall(r"<([a-z]+)(?: \d+)?>", str(answer)))
    return frozenset(kind for kind in Mask if kind.value in named)
