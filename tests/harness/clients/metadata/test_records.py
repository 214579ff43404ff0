"""Both dialects of the metadata log say the same things; each is held against an independent writer's bytes."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import uvarint
from fencepost.cluster_impl.wire.records import encode_record
from fencepost.harness.clients.metadata.cursor import Cursor
from fencepost.harness.clients.metadata.records import (
    BrokerFencingFact,
    BrokerRegistrationFact,
    BrokerRemovalFact,
    Fact,
    PartitionChangeFact,
    PartitionFact,
    TopicFact,
    TopicRemovalFact,
    decode_draft,
    decode_kraft,
)

T = uuid.UUID("0aeb1fe5-5dd8-4ff0-b6f9-aeb147f81828")
OTHER = uuid.UUID("0c658e94-87cd-4350-8cc3-00604b44c074")


@pytest.mark.parametrize(
    ("record", "fact"),
    [
        (
            m.BrokerRecord(
                broker_id=4,
                broker_epoch=17,
                end_points=[
                    m.BrokerRecord.BrokerEndpoint(name="INTERNAL", host="node-4", port=9090, security_protocol=0)
                ],
                rack=None,
            ),
            BrokerRegistrationFact(4, 17, fenced=False),
        ),
        (m.TopicRecord(name="t", topic_id=T, deleting=False), TopicFact(T, "t")),
        (m.TopicRecord(name="t", topic_id=T, deleting=True), TopicFact(T, "t")),
        (
            m.PartitionRecord(
                partition_id=2,
                topic_id=T,
                replicas=[6, 4, 5],
                isr=[6, 4],
                removing_replicas=[5],
                adding_replicas=[6],
                leader=6,
                leader_epoch=3,
            ),
            PartitionFact(T, 2, (6, 4, 5), (6, 4), leader=6, leader_epoch=3, version=3, removing=(5,), adding=(6,)),
        ),
        (
            m.IsrChangeRecord(partition_id=2, topic_id=T, isr=[4], leader=4, leader_epoch=5),
            PartitionChangeFact(T, 2, (4,), leader=4, leader_epoch=5),
        ),
        (m.ConfigRecord(resource_type=2, resource_name="t", name="min.insync.replicas", value="2"), None),
        (m.DeleteBrokerRecord(id=4), BrokerRemovalFact(4)),
        (m.DeleteTopicRecord(name=T), TopicRemovalFact(T)),
    ],
)
def test_the_drafts_records(record: Any, fact: Fact | None) -> None:
    assert decode_draft(encode_record(record)) == fact
    record.unknown_tags = {0: b"a field that is not known"}
    assert decode_draft(encode_record(record)) == fact
    record.unknown_tags = {}
    drafted = uvarint(record.API_KEY) + uvarint(0) + record.encode(0)
    assert decode_draft(drafted) == fact


KAFKA_4_3_1 = {
    "RegisterBroker": (
        "01000400000005007312e82510e24f60a94503409692ee03000000000000000a0309494e5445524e414c076e6f64652d35238200000007"
        "434c49454e540d3132372e32302e3230302e352384000000081073747265616d732e76657273696f6e00000001000e67726f75702e7665"
        "7273696f6e00000001000e6b726166742e76657273696f6e00000001000e73686172652e76657273696f6e0000000100116d6574616461"
        "74612e76657273696f6e0007001e0021656c696769626c652e6c65616465722e7265706c696361732e76657273696f6e00000001001474"
        "72616e73616374696f6e2e76657273696f6e00000002000001000100110271c1806b908547adb00a85a5427bb8ec",
        BrokerRegistrationFact(5, 10, fenced=True),
    ),
    "BrokerRegistrationChange": ("01110000000006000000000000000c010001ff", BrokerFencingFact(6, fenced=False)),
    "Topic": ("01020002740aeb1fe55dd84ff0b6f9aeb147f8182800", TopicFact(T, "t")),
    "Partition": (
        "010302000000000aeb1fe55dd84ff0b6f9aeb147f81828040000000600000004000000050400000006000000040000000501010000000600"
        "000000000000000427591e570c1d4cb280dca0f1535b4f368490fb1be075466c9e3571c8c2601db971c1806b908547adb00a85a5427bb8ec"
        "00",
        PartitionFact(T, 0, (6, 4, 5), (6, 4, 5), leader=6, leader_epoch=0, version=0),
    ),
    "PartitionChange": (
        "010502000000000c658e9487cd43508cc300604b44c074010009030000000500000004",
        PartitionChangeFact(OTHER, 0, (5, 4), leader=None),
    ),
    "FeatureLevel": ("010c00116d657461646174612e76657273696f6e001e00", None),
}


@pytest.mark.parametrize(("written", "fact"), KAFKA_4_3_1.values(), ids=KAFKA_4_3_1.keys())
def test_records_that_apache_kafka_wrote(written: str, fact: Fact | None) -> None:
    assert decode_kraft(bytes.fromhex(written)) == fact


def test_a_reassignment_changes_the_assignment() -> None:
    tags = "030009030000000500000006020d0400000004000000050000000604050200000006"
    written = bytes.fromhex("01050200000000") + OTHER.bytes + bytes.fromhex(tags)
    assert decode_kraft(written) == PartitionChangeFact(
        OTHER, 0, isr=(5, 6), leader=None, replicas=(4, 5, 6), adding=(6,)
    )


@pytest.mark.parametrize("size", range(3, 20))
def test_a_record_that_ends_early_is_an_error(size: int) -> None:
    with pytest.raises(IndexError):
        decode_kraft(bytes.fromhex(KAFKA_4_3_1["Topic"][0])[:size])


def test_null_and_empty_differ_where_it_matters() -> None:
    assert Cursor(b"\x00", flexible=True).string() is None
    assert Cursor(b"\x01", flexible=True).string() == ""
    assert Cursor(b"\xff\xff", flexible=False).string() is None
