"""Messages of magic 0 and 1 on disk: written as brokers before 0.11 wrote them, read as batches of one."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from fencepost.harness.checkers.segments import UnreadableBatch, records, scan


def message(offset: int, value: bytes, magic: int = 1, attributes: int = 0) -> bytes:
    time = struct.pack(">q", 1_500_000_000_000) if magic else b""
    rest = struct.pack(">bb", magic, attributes) + time + struct.pack(">i", -1) + struct.pack(">i", len(value)) + value
    body = struct.pack(">I", zlib.crc32(rest)) + rest
    return struct.pack(">qi", offset, len(body)) + body


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    return tmp_path / "00000000000000000000.log"


@pytest.mark.parametrize("magic", [0, 1])
def test_each_message_is_a_batch_of_one(segment: Path, magic: int) -> None:
    segment.write_bytes(message(7, b"one", magic) + message(8, b"a longer value than that", magic))
    found = scan(segment)
    assert (found.torn, found.damage) == (None, None)
    assert [(batch.base, batch.last, batch.leader_epoch) for batch in found.batches] == [(7, 7, -1), (8, 8, -1)]
    assert [records(batch) for batch in found.batches] == [[(7, b"one")], [(8, b"a longer value than that")]]


def test_an_end_that_its_writer_did_not_finish_is_torn(segment: Path) -> None:
    whole = message(0, b"one") + message(1, b"two")
    segment.write_bytes(whole[:-2])
    found = scan(segment)
    assert len(found.batches) == 1
    assert found.torn is not None
    assert found.damage is None


def test_a_checksum_that_fails_before_other_messages_is_damage(segment: Path) -> None:
    first = bytearray(message(0, b"one"))
    first[-1] ^= 1
    segment.write_bytes(bytes(first) + message(1, b"two"))
    found = scan(segment)
    assert found.batches == ()
    assert found.damage is not None
    assert "offset 0" in str(found.damage)


def test_zeros_are_no_message(segment: Path) -> None:
    segment.write_bytes(message(0, b"one") + bytes(200))
    found = scan(segment)
    assert len(found.batches) == 1
    assert found.damage is not None


def test_a_compressed_message_is_opaque(segment: Path) -> None:
    segment.write_bytes(message(3, b"packed", attributes=1))
    (batch,) = scan(segment).batches
    with pytest.raises(UnreadableBatch, match="compressed"):
        records(batch)
