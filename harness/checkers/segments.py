"""Read segment files: Kafka's record batches (magic 2) on the disk of a node, and older messages as batches of one.

A scan reads headers and verifies checksums; `records` unpacks the records of one batch. Batches may be compressed by
gzip; other codecs are opaque: they can be compared, not read.

Source: Kafka's documentation, Record Batch and Record.
"""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import crc32c

from fencepost.harness.checkers.old_messages import is_cut, is_old, read_message

_HEADER = struct.Struct(">qiibIhiqqqhii")
"""base offset, length, leader epoch, magic, CRC, attributes, last offset delta, 2 timestamps, producer id and epoch,
base sequence, count."""
_LENGTH_COVERS_FROM = 12
_CRC_COVERS_FROM = 21
_LEAST_LENGTH = _HEADER.size - _LENGTH_COVERS_FROM
_COMPRESSION, _GZIP, _CONTROL = 0x07, 1, 0x20
_NONE = 1
"""The length -1 of a null key, as a varint."""
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


class UnreadableBatch(ValueError):
    """The records of a batch cannot be unpacked; the message says which batch and why."""


Session = tuple[int, int]
"""The id and epoch of an idempotent producer."""
NO_SESSION: Final = (-1, -1)

Record = tuple[int, bytes]
"""Offset and value of one record, the value in bytes. Its leader epoch is the batch's."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The place and the header of a batch. The checksum covers neither base offset nor epoch."""

    path: Path
    position: int
    size: int
    base: int
    last: int
    leader_epoch: int
    crc: int
    is_control: bool
    producer: Session = NO_SESSION
    is_old: bool = False
    """True for a single message of magic 0 or 1, which has no leader epoch."""

    @property
    def content(self) -> tuple[int, int, int]:
        """Return a value that is equal for copies of one batch at one place, whichever leader wrote them."""
        return self.base, self.last, self.crc


@dataclass(frozen=True, slots=True)
class Flaw:
    """A place at which a segment cannot be read further. `bytes_left` counts from there to its end."""

    path: Path
    position: int
    bytes_left: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.name} at byte {self.position}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Scan:
    """The batches of one segment, up to its end or its first flaw.

    `torn` is an end that its writer did not finish: nothing can follow it. `damage` is not the
    work of an interrupted writer: a checksum that fails although more batches follow, or bytes that are no batch.
    """

    batches: tuple[Batch, ...]
    torn: Flaw | None = None
    damage: Flaw | None = None


def scan(path: Path, *, verify: bool = True) -> Scan:
    """Read a segment up to its end or its first flaw. Without `verify`, do not verify checksums. Raise OSError."""
    data = memoryview(path.read_bytes())
    batches: list[Batch] = []
    position = 0
    while position < len(data):
        left = len(data) - position

        def flaw(reason: str, at: int = position, left: int = left) -> Flaw:
            return Flaw(path, at, left, reason)

        if is_old(data, position) and (not batches or batches[-1].is_old):
            message = read_message(data, position)
            if message is not None and (message.intact or not verify):
                at = message.offset
                batches.append(Batch(path, position, message.size, at, at, -1, message.crc, False, is_old=True))
                position += message.size
                continue
            if message is not None:
                wrong = flaw(f"the checksum of the message at offset {message.offset} fails")
                last = message.size == left
                return Scan(tuple(batches), torn=wrong) if last else Scan(tuple(batches), damage=wrong)
            if batches and is_cut(data, position):
                return Scan(tuple(batches), torn=flaw(f"{left} bytes are no whole message"))
        if left < _HEADER.size:
            return Scan(tuple(batches), torn=flaw(f"{left} bytes are no whole header"))
        header = _HEADER.unpack_from(data, position)
        base, length, epoch, magic, crc, attributes, delta, _, _, producer, producer_epoch, *_ = header
        size = _LENGTH_COVERS_FROM + length
        if magic != 2 or length < _LEAST_LENGTH or delta < 0:
            return Scan(tuple(batches), damage=flaw(f"no batch of magic 2 (magic {magic}, length {length})"))
        if size > left:
            return Scan(tuple(batches), torn=flaw(f"a batch of {size} bytes has {left}"))
        if verify and crc32c.crc32c(data[position + _CRC_COVERS_FROM : position + size]) != crc:
            wrong = flaw(f"the checksum of the batch at offset {base} fails")
            return Scan(tuple(batches), torn=wrong) if size == left else Scan(tuple(batches), damage=wrong)
        session, is_control = (producer, producer_epoch), bool(attributes & _CONTROL)
        batches.append(Batch(path, position, size, base, base + delta, epoch, crc, is_control, session))
        position += size
    return Scan(tuple(batches))


def records(batch: Batch) -> list[Record]:
    """Return the records of a batch; none of a control batch. Raise UnreadableBatch, OSError."""
    if batch.is_control:
        return []
    with batch.path.open("rb", buffering=0) as file:
        file.seek(batch.position)
        data = file.read(batch.size)
    place = f"the batch at byte {batch.position} of {batch.path.parent.name}/{batch.path.name}"
    if batch.is_old:
        message = read_message(data, 0)
        if message is None or message.compressed:
            raise UnreadableBatch(f"{place} is compressed, or changed since it was scanned")
        return [(batch.base, message.value or b"")]
    *_, attributes, _, _, _, _, _, _, count = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    codec = attributes & _COMPRESSION
    if codec not in (0, _GZIP):
        raise UnreadableBatch(f"{place} is compressed by codec {codec}")
    try:
        return _unpack(zlib.decompress(body, _GZIP_WINDOW) if codec == _GZIP else body, batch.base, count)
    except (zlib.error, IndexError) as error:
        raise UnreadableBatch(f"{place} has a valid checksum and cannot be unpacked: {error}") from error


def _unpack(data: bytes, base: int, count: int) -> list[Record]:
    """Unpack records. Most varints are small and positive, one even byte, so that is tested before a function call."""
    found: list[Record] = []
    position = 0
    for _ in range(count):
        size, position = _varint(data, position)
        end = position + size
        position += 1
        while data[position] >= 0x80:  # the timestamp
            position += 1
        position += 1
        if (byte := data[position]) & 0x81:
            delta, position = _varint(data, position)
        else:
            delta, position = byte >> 1, position + 1
        if data[position] == _NONE:
            position += 1
        else:
            key, position = _varint(data, position)
            position += key
        value, position = _varint(data, position)
        found.append((base + delta, data[position : position + max(value, 0)]))
        position = end
    return found


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a zigzag varint and the position after it."""
    shift = value = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
