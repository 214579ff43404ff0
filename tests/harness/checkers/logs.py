"""Writes segment files byte by byte, as Kafka's documentation describes them, independent of what reads them."""

import gzip
import struct
from collections.abc import Sequence
from pathlib import Path

import crc32c


def varint(number: int) -> bytes:
    zigzag = (number << 1) ^ (number >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def batch(
    base: int,
    *values: str,
    epoch: int = 1,
    attributes: int = 0,
    magic: int = 2,
    right: bool = True,
    producer: tuple[int, int] = (-1, -1),
    key: str | None = None,
    packed: bytes | None = None,
    later_ms: int = 0,
) -> bytes:
    """Return a batch. `right`: its checksum is right; `producer`: the id and epoch of an idempotent one.

    `key` and `later_ms`, the timestamp delta, are those of all records; `packed` replaces the bytes of the records.
    """
    records = b""
    named = varint(-1) if key is None else varint(len(key)) + key.encode()
    for delta, value in enumerate(values):
        body = b"\0" + varint(later_ms) + varint(delta) + named + varint(len(value)) + value.encode() + varint(0)
        records += varint(len(body)) + body
    if attributes & 0x07 == 1:
        records = gzip.compress(records, mtime=0)
    records = records if packed is None else packed
    checked = struct.pack(">hiqqqhii", attributes, len(values) - 1, 0, 0, *producer, -1, len(values)) + records
    crc = crc32c.crc32c(checked) ^ (0 if right else 1)
    return struct.pack(">qiibI", base, 9 + len(checked), epoch, magic, crc) + checked


def write_log(folder: Path, *batches: bytes, name: str = "00000000000000000000.log") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(b"".join(batches))
    return path


def write_checkpoint(path: Path, rows: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in ("0", str(len(rows)), *rows)))
