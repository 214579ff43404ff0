"""Every field of the drafted records is read, held against an independent writer's bytes, and nothing else passes."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import uvarint
from fencepost.cluster_impl.wire.records import RECORD_TYPES, encode_record
from fencepost.harness.clients.metadata.draft_records import LAYOUTS, DraftRecord, MalformedRecord, decode

T = uuid.UUID("0aeb1fe5-5dd8-4ff0-b6f9-aeb147f81828")
ENTRY: dict[str, Any] = {
    "resource_type": 2,
    "resource_name": "hers",
    "pattern_type": 3,
    "principal": "User:alice",
    "host": "*",
    "operation": 3,
    "permission_type": 2,
}
CLIENT = m.BrokerRecord.BrokerEndpoint(name="CLIENT", host="h", port=-25536, security_protocol=1)
BROKER: dict[str, Any] = {"broker_id": 4, "broker_epoch": 17, "rack": "r"}
END_POINT = {"name": "CLIENT", "host": "h", "port": -25536, "security_protocol": 1}
PARTITION: dict[str, Any] = {
    "partition_id": 2,
    "replicas": [6, 4, 5],
    "isr": [6, 4],
    "removing_replicas": [5],
    "adding_replicas": [6],
    "leader": 6,
    "leader_epoch": 3,
}
ISR: dict[str, Any] = {"partition_id": 2, "isr": [4], "leader": 4, "leader_epoch": 5}
SETTING: dict[str, Any] = {"resource_type": 4, "resource_name": "", "name": "log.retention.ms"}
DRAFTED: list[tuple[Any, dict[str, Any]]] = [
    (m.TopicRecord(name="t", topic_id=T, deleting=True), {"name": "t", "topic_id": str(T), "deleting": True}),
    (m.PartitionRecord(topic_id=T, **PARTITION), {"topic_id": str(T), **PARTITION}),
    (m.ConfigRecord(value="1", **SETTING), {"value": "1", **SETTING}),
    (m.IsrChangeRecord(topic_id=T, **ISR), {"topic_id": str(T), **ISR}),
    (m.AccessControlRecord(**ENTRY), ENTRY),
    (m.DeleteBrokerRecord(id=4), {"id": 4}),
    (m.DeleteTopicRecord(name=T), {"name": str(T)}),
]
OWN: list[tuple[Any, dict[str, Any]]] = [
    (m.ConfigRecord(value=None, **SETTING), {"value": None, **SETTING}),
    (
        m.HistoryRecord(partitions_created=7, deleted_leader_epoch=3),
        {"partitions_created": 7, "deleted_leader_epoch": 3},
    ),
    (m.DeleteAccessControlRecord(**ENTRY), ENTRY),
    (m.FeatureLevelRecord(name="metadata.format", level=2), {"name": "metadata.format", "level": 2}),
]


@pytest.mark.parametrize(("record", "fields"), [*DRAFTED, *OWN])
def test_every_field_is_read_and_an_unknown_tagged_one_is_ignored(record: Any, fields: dict[str, Any]) -> None:
    assert decode(encode_record(record)) == DraftRecord(type(record).__name__, 1, fields)
    record.unknown_tags = {7: b"a field that is not known"}
    try:
        assert decode(encode_record(record)).fields == fields
    finally:
        record.unknown_tags = {}


@pytest.mark.parametrize(("record", "fields"), DRAFTED)
def test_version_0_is_the_record_as_drafted(record: Any, fields: dict[str, Any]) -> None:
    drafted = uvarint(record.API_KEY) + uvarint(0) + record.encode(0)
    assert decode(drafted) == DraftRecord(type(record).__name__, 0, fields)


def test_the_tagged_fields_of_our_own_are_read_beside_the_drafted_ones() -> None:
    support = m.BrokerRecord.SupportedFeature(name="metadata.format", min_version=1, max_version=2)
    broker = m.BrokerRecord(end_points=[CLIENT], since=9, features=[support], **BROKER)
    features = [{"name": "metadata.format", "min_version": 1, "max_version": 2}]
    drafted = {**BROKER, "end_points": [END_POINT]}
    assert decode(encode_record(broker)).fields == {**drafted, "since": 9, "features": features}
    assert decode(b"\x00\x00" + m.BrokerRecord(end_points=[CLIENT], **BROKER).encode(0)).fields == drafted
    partition = m.PartitionRecord(topic_id=T, leader_term_epoch=2, joined=[8, 9], **PARTITION)
    assert {"leader_term_epoch": 2, "joined": [8, 9]}.items() <= decode(encode_record(partition)).fields.items()


def test_all_types_are_known_by_their_names() -> None:
    assert {kind: layout.name for kind, layout in LAYOUTS.items()} == {
        kind: record.__name__ for kind, record in RECORD_TYPES.items()
    }


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "ends too early"),
        (b"\x08\x01", "type 8 is unknown"),
        (b"\x06\x02\x00\x00\x00\x04\x00", "DeleteBrokerRecord has no version 2"),
        (b"\xe8\x07\x00", "HistoryRecord has no version 0"),
        (b"\x06\x01\x00\x00\x00", "ends too early"),
        (b"\x06\x01\x00\x00\x00\x04", "ends too early"),
        (b"\x06\x00\x00\x00\x00\x04\x00", "1 bytes follow the fields of DeleteBrokerRecord"),
        (b"\x03\x00\x02\x00\x01t\x00\x01n\xff\xff", "a text is null that cannot be"),
        (b"\x01\x00\x00\x01\xff" + bytes(17), "a text is not UTF-8"),
        (b"\x00\x01" + bytes(12) + b"\x01\x00\x01\x00\x09" + bytes(9), "1 bytes follow the tagged field since"),
    ],
)
def test_what_is_no_record_is_malformed(value: bytes, reason: str) -> None:
    with pytest.raises(MalformedRecord, match=reason):
        decode(value)
