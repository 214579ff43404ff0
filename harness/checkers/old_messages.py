"""Messages of Kafka before 0.11, magic 0 and 1: each stands alone, with an offset and a checksum of its own.

Their producers here do not compress, and what others compressed is opaque. Source: Kafka's documentation, Message Sets.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

MAGIC_AT = 16
"""The byte of the magic in an entry of a segment, in all formats."""
_ENTRY = struct.Struct(">qi")
"""offset, size."""
_MESSAGE = struct.Struct(">Ibb")
"""CRC, magic, attributes."""
_TIMESTAMP = 8
_LENGTH = struct.Struct(">i")
_COMPRESSION = 0x07
NO_MESSAGE = -1


@dataclass(frozen=True, slots=True)
class OldMessage:
    """One message. `size` is that of its entry in bytes; `value` is None if it is compressed or null."""

    size: int
    offset: int
    crc: int
    intact: bool
    compressed: bool
    value: bytes | None


def is_old(data: memoryview | bytes, position: int) -> bool:
    """Return whether the entry at this place says that it is a message of magic 0 or 1."""
    return len(data) - position > MAGIC_AT and data[position + MAGIC_AT] in (0, 1)


def is_cut(data: memoryview | bytes, position: int) -> bool:
    """Return whether the entry at this place goes on beyond the end of the segment."""
    _, size = _ENTRY.unpack_from(data, position)
    return bool(position + _ENTRY.size + size > len(data))


def read_message(data: memoryview | bytes, position: int) -> OldMessage | None:
    """Return the message at this place, or None if the bytes are none: its lengths contradict each other, or end."""
    if len(data) - position < _ENTRY.size + _MESSAGE.size:
        return None
    offset, size = _ENTRY.unpack_from(data, position)
    begin = position + _ENTRY.size
    body = bytes(data[begin : begin + max(size, 0)])
    if len(body) < size or size < _MESSAGE.size:
        return None
    crc, magic, attributes = _MESSAGE.unpack_from(body)
    at = _MESSAGE.size + _TIMESTAMP * magic
    _, at = _bytes(body, at)
    value, at = _bytes(body, at)
    if at != size:
        return None
    compressed = bool(attributes & _COMPRESSION)
    intact = zlib.crc32(body[4:]) == crc
    return OldMessage(_ENTRY.size + size, offset, crc, intact, compressed, None if compressed else value)


def _bytes(body: bytes, at: int) -> tuple[bytes | None, int]:
    """Return nullable bytes with their length before them, and the place after them: NO_MESSAGE if there are none."""
    if at < 0 or at + _LENGTH.size > len(body):
        return None, NO_MESSAGE
    (length,) = _LENGTH.unpack_from(body, at)
    end = at + _LENGTH.size + max(length, 0)
    return (None, end) if length < 0 else (body[end - length : end], end)
