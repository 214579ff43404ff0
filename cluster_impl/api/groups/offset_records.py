"""Committed offsets as records of `__consumer_offsets`: Kafka's key version 1 and value version 3."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.codec import Buffer, Malformed

_KEY_VERSION = 1
_VALUE_VERSION = 3
_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_VALUE = struct.Struct(">hqi")
_INT64 = struct.Struct(">q")


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """`leader_epoch` is -1 if the client gave none; `committed_at` is in milliseconds since 1970."""

    offset: int
    leader_epoch: int
    metadata: str
    committed_at: int


def encode_key(group_id: str, of: TopicPartition) -> bytes:
    return _INT16.pack(_KEY_VERSION) + _string(group_id) + _string(of.topic) + _INT32.pack(of.partition)


def encode_value(committed: CommittedOffset) -> bytes:
    head = _VALUE.pack(_VALUE_VERSION, committed.offset, committed.leader_epoch)
    return head + _string(committed.metadata) + _INT64.pack(committed.committed_at)


def decode_key(key: Buffer) -> tuple[str, TopicPartition] | None:
    """Return group and partition; None for a key of another kind (group metadata). Raises Malformed."""
    try:
        (version,) = _INT16.unpack_from(key)
        if version > _KEY_VERSION:
            return None
        group_id, position = _read_string(key, 2)
        topic, position = _read_string(key, position)
        (partition,) = _INT32.unpack_from(key, position)
    except (struct.error, UnicodeDecodeError) as error:
        raise Malformed(f"offset key: {error}") from error
    return group_id, TopicPartition(topic, partition)


def decode_value(value: Buffer) -> CommittedOffset:
    """Decode the value of an offset record. Raises Malformed."""
    try:
        version, offset, leader_epoch = _VALUE.unpack_from(value)
        if version != _VALUE_VERSION:
            raise Malformed(f"offset value: version {version} is not known")
        metadata, position = _read_string(value, _VALUE.size)
        (committed_at,) = _INT64.unpack_from(value, position)
    except (struct.error, UnicodeDecodeError) as error:
        raise Malformed(f"offset value: {error}") from error
    return CommittedOffset(offset, leader_epoch, metadata, committed_at)


def _string(text: str) -> bytes:
    raw = text.encode()
    return _INT16.pack(len(raw)) + raw


def _read_string(buffer: Buffer, position: int) -> tuple[str, int]:
    (length,) = _INT16.unpack_from(buffer, position)
    end = position + 2 + length
    return str(buffer[position + 2 : end], "utf-8"), end
