"""Record batches of magic 2, Kafka's format of messages on the wire and on disk.

The data plane reads headers only and keeps batches whole. Records inside are built and parsed here as well, for the
small internal topics; compressed ones are not.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import crc32c

from fencepost.cluster_impl.wire.codec import Buffer, Malformed

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = HEADER.size
MAGIC = 2
NO_PRODUCER_ID = -1

_LENGTH_PREFIX = 12
"""Base offset and length, which the length does not count."""
_CRC_FROM = 21
"""The checksum covers attributes and all that follows, so base offset and leader epoch may be patched."""
_LEADER_EPOCH_AT = 12
_MAGIC_AT = 16
_ATTRIBUTES_AT = 21
_MAX_TIMESTAMP_AT = 35
_COMPRESSION = 0x07
_LOG_APPEND_TIME = 0x08
_TRANSACTIONAL = 0x10
_CONTROL = 0x20

_OFFSET = struct.Struct(">q")
_EPOCH = struct.Struct(">i")
_PREFIX = struct.Struct(">qi")


class Batch:
    """A whole batch and its header. `view` is the memory it was read from."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    __slots__ = (*__annotations__, "view")

    def __init__(self, view: memoryview) -> None:
        self.view = view
        (
            self.base_offset,
            self.length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.count,
        ) = HEADER.unpack_from(view)

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return self.length + _LENGTH_PREFIX

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record; after 2^31 - 1 follows 0."""
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & _CONTROL)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & _TRANSACTIONAL)

    @property
    def is_compressed(self) -> bool:
        return bool(self.attributes & _COMPRESSION)

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id != NO_PRODUCER_ID

    def verify_crc(self) -> bool:
        return crc32c.crc32c(self.view[_CRC_FROM:]) == self.crc

    def __repr__(self) -> str:
        return f"Batch({self.base_offset}..{self.last_offset}, epoch {self.leader_epoch}, {self.size} bytes)"


def split(buffer: Buffer) -> list[Batch]:
    """Return the batches that fill the buffer exactly, without a check of checksums. Raises Malformed."""
    return list(_split(memoryview(buffer)))


def _split(view: memoryview) -> Iterator[Batch]:
    position, end = 0, len(view)
    while position < end:
        size = batch_size(view, position)
        if size is None or size > end - position:
            raise Malformed(f"record batch at byte {position}: it is cut off at byte {end}")
        batch = Batch(view[position : position + size])
        if batch.last_offset_delta < 0:
            raise Malformed(f"record batch at byte {position}: its last offset delta is {batch.last_offset_delta}")
        yield batch
        position += size


def batch_size(view: memoryview, position: int) -> int | None:
    """Return the size of the batch that begins at `position`; None if its header is incomplete. Raises Malformed."""
    if len(view) - position <= _MAGIC_AT:
        return None
    _, length = _PREFIX.unpack_from(view, position)
    if view[position + _MAGIC_AT] != MAGIC:
        raise Malformed(f"record batch at byte {position}: magic {view[position + _MAGIC_AT]} is not {MAGIC}")
    size: int = length + _LENGTH_PREFIX
    if size < HEADER_BYTES:
        raise Malformed(f"record batch at byte {position}: a length of {length} is too short for a header")
    return size if len(view) - position >= HEADER_BYTES else None


def patch(buffer: bytearray | memoryview, position: int, base_offset: int, leader_epoch: int) -> None:
    """Stamp a batch with its place in the log. The checksum does not cover these fields."""
    _OFFSET.pack_into(buffer, position, base_offset)
    _EPOCH.pack_into(buffer, position + _LEADER_EPOCH_AT, leader_epoch)


@dataclass(frozen=True, slots=True)
class Record:
    offset: int
    timestamp: int
    """Milliseconds since 1970."""
    key: bytes | None
    value: bytes | None


def build(
    records: Sequence[tuple[bytes | None, bytes | None, int]],
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    control: bool = False,
) -> bytes:
    """Return an uncompressed batch of at least one (key, value, timestamp in ms), without record headers."""
    base_timestamp = records[0][2]
    body = bytearray()
    for delta, (key, value, timestamp) in enumerate(records):
        record = bytearray(b"\0")
        record += _varint(timestamp - base_timestamp) + _varint(delta)
        record += _varint_bytes(key) + _varint_bytes(value) + _varint(0)
        body += _varint(len(record)) + record
    batch = bytearray(HEADER_BYTES) + body
    HEADER.pack_into(
        batch,
        0,
        base_offset,
        len(batch) - _LENGTH_PREFIX,
        leader_epoch,
        MAGIC,
        0,
        _CONTROL if control else 0,
        len(records) - 1,
        base_timestamp,
        max(timestamp for _, _, timestamp in records),
        producer_id,
        producer_epoch,
        base_sequence,
        len(records),
    )
    _seal(batch)
    return bytes(batch)


def stamp_append_time(buffer: Buffer, now_ms: int) -> memoryview:
    """Give all records of one batch the time of the append (in place if the buffer is writable); return the batch."""
    view = memoryview(buffer)
    if view.readonly:
        view = memoryview(bytearray(view))
    view[_ATTRIBUTES_AT + 1] |= _LOG_APPEND_TIME
    _OFFSET.pack_into(view, _MAX_TIMESTAMP_AT, now_ms)
    _seal(view)
    return view


def empty(base_offset: int, last_offset: int, leader_epoch: int) -> bytes:
    """Return a batch without records that stands for the offsets of removed ones (compaction)."""
    batch = bytearray(HEADER_BYTES)
    length, delta = HEADER_BYTES - _LENGTH_PREFIX, last_offset - base_offset
    HEADER.pack_into(batch, 0, base_offset, length, leader_epoch, MAGIC, 0, 0, delta, -1, -1, NO_PRODUCER_ID, -1, -1, 0)
    _seal(batch)
    return bytes(batch)


def beginning_at(batch: Batch, offset: int) -> bytes:
    """Return the rest of an `empty` batch, from an offset within it on."""
    return empty(offset, batch.last_offset, batch.leader_epoch)


def without_records(batch: Batch, kept: Sequence[Record]) -> bytes:
    """Return an uncompressed batch reduced to some of its records; its offsets and its producer stay. Raises Malformed.

    Record bytes are copied as they are, so their headers stay as well.
    """
    offsets = {record.offset for record in kept}
    body = bytes(batch.view[HEADER_BYTES:])
    pieces, position = [], 0
    for record in parse(batch):
        length, begin = _read_varint(body, position)
        if record.offset in offsets:
            pieces.append(body[position : begin + length])
        position = begin + length
    reduced = bytearray(batch.view[:HEADER_BYTES]) + b"".join(pieces)
    _PREFIX.pack_into(reduced, 0, batch.base_offset, len(reduced) - _LENGTH_PREFIX)
    newest = max((record.timestamp for record in kept), default=-1)
    _OFFSET.pack_into(reduced, _MAX_TIMESTAMP_AT, newest)
    _EPOCH.pack_into(reduced, HEADER_BYTES - 4, len(kept))
    _seal(reduced)
    return bytes(reduced)


def _seal(batch: bytearray | memoryview) -> None:
    """Write the checksum."""
    struct.pack_into(">I", batch, _MAGIC_AT + 1, crc32c.crc32c(memoryview(batch)[_CRC_FROM:]))


def parse(batch: Batch) -> list[Record]:
    """Return the records of an uncompressed batch. Raises Malformed."""
    if batch.is_compressed:
        raise Malformed(f"record batch at offset {batch.base_offset}: it is compressed, which is not read here")
    body = bytes(batch.view[HEADER_BYTES:])
    records = []
    position = 0
    try:
        for _ in range(batch.count):
            record, position = _parse_record(body, position, batch)
            records.append(record)
    except IndexError as error:
        raise Malformed(f"record batch at offset {batch.base_offset}: a record is cut off") from error
    if position != len(body):
        raise Malformed(f"record batch at offset {batch.base_offset}: bytes are left over after its records")
    return records


def _parse_record(body: bytes, position: int, batch: Batch) -> tuple[Record, int]:
    length, position = _read_varint(body, position)
    end = position + length
    if length < 0 or end > len(body):
        raise IndexError
    timestamp_delta, position = _read_varint(body, position + 1)
    offset_delta, position = _read_varint(body, position)
    key, position = _read_bytes(body, position, end)
    value, position = _read_bytes(body, position, end)
    timestamp = batch.max_timestamp if batch.attributes & _LOG_APPEND_TIME else batch.base_timestamp + timestamp_delta
    return Record(batch.base_offset + offset_delta, timestamp, key, value), end


def _read_bytes(body: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    length, position = _read_varint(body, position)
    if length < 0:
        return None, position
    if position + length > end:
        raise IndexError
    return body[position : position + length], position + length


def _varint(value: int) -> bytes:
    """Zigzag, 64 bits."""
    value = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _varint_bytes(value: bytes | None) -> bytes:
    return _varint(-1) if value is None else _varint(len(value)) + value


def _read_varint(body: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = body[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
        if shift > 63:
            raise IndexError
