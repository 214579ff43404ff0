"""Committed offsets are what Kafka would write, and come back from the log as they were."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.api.groups.coordinator import partition_of
from fencepost.cluster_impl.api.groups.offset_records import (
    CommittedOffset,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
)
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.codec import Malformed


def test_keys_and_values_have_the_bytes_of_kafka() -> None:
    assert encode_key("g", TopicPartition("t", 3)) == b"\x00\x01\x00\x01g\x00\x01t\x00\x00\x00\x03"
    value = encode_value(CommittedOffset(5, 2, "m", 7))
    assert value == b"\x00\x03\0\0\0\0\0\0\0\x05\0\0\0\x02\x00\x01m\0\0\0\0\0\0\0\x07"


def test_what_was_committed_is_read_again() -> None:
    committed = CommittedOffset(2**40, -1, "söme text", 1_800_000_000_000)
    assert decode_value(encode_value(committed)) == committed
    partition = TopicPartition("tö", 0)
    assert decode_key(encode_key("grüppe", partition)) == ("grüppe", partition)


def test_keys_of_other_kinds_are_left_out() -> None:
    assert decode_key(b"\x00\x02\x00\x01g") is None


@pytest.mark.parametrize("value", [b"", b"\x00\x03\x00", b"\x00\x09" + bytes(30)])
def test_values_that_are_not_offsets_are_malformed(value: bytes) -> None:
    with pytest.raises(Malformed):
        decode_value(value)


@pytest.mark.parametrize(("group", "code"), [("", 0), ("g", 103), ("group", 98629247), ("my-group", 1906497762)])
def test_groups_are_spread_by_the_hash_of_java(group: str, code: int) -> None:
    """`"my-group".hashCode()` is -1906497762; Kafka takes the magnitude."""
    assert partition_of(group, 2**31) == code
    assert partition_of(group, 50) == code % 50
