"""Reads the segment files that nodes leave behind: Kafka's batches (magic 2), as they lie on the disk.

Source: Kafka's documentation, Record Batch and Record. Compressed batches are not unpacked; the harness's own clients
write none.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HEADER = struct.Struct(">qiibIhiqqqhii")
"""base offset, length, leader epoch, magic, CRC, attributes, last offset delta, 2 timestamps, producer id and epoch,
base sequence, count."""
_LENGTH_COVERS_FROM = 12
_COMPRESSION, _CONTROL = 0x07, 0x20


class Unreadable(ValueError):
    """A segment that is not what this can read; the sentence says which and why."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a log. The value is as its bytes are."""

    offset: int
    leader_epoch: int
    value: bytes


def read_log(folder: Path) -> Iterator[Record]:
    """The records of a partition's folder, by offset. A batch that its writer did not finish ends the log.

    Raises Unreadable for other formats and compressed batches.
    """
    for path in sorted(folder.glob("*.log")):
        yield from _read_segment(path)


def _read_segment(path: Path) -> Iterator[Record]:
    data = memoryview(path.read_bytes())
    position = 0
    while position + _HEADER.size <= len(data):
        base, length, epoch, magic, _, attributes, *_, count = _HEADER.unpack_from(data, position)
        end = position + _LENGTH_COVERS_FROM + length
        if length <= 0 or end > len(data):
            return
        if magic != 2 or attributes & _COMPRESSION:
            what = f"magic {magic}" if magic != 2 else "a compressed batch"
            raise Unreadable(f"{path} has {what} at byte {position}")
        if not attributes & _CONTROL:
            yield from _records(data[position + _HEADER.size : end], base, epoch, count)
        position = end


def _records(data: memoryview, base: int, epoch: int, count: int) -> Iterator[Record]:
    position = 0
    for _ in range(count):
        size, position = _varint(data, position)
        end = position + size
        position += 1
        _, position = _varint(data, position)
        delta, position = _varint(data, position)
        key, position = _varint(data, position)
        position += max(key, 0)
        value, position = _varint(data, position)
        yield Record(base + delta, epoch, bytes(data[position : position + max(value, 0)]))
        position = end


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """A zigzag number and where it ends."""
    shift = value = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
