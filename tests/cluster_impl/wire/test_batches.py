"""Record batches against other builders and parsers, and the header arithmetic."""

from __future__ import annotations

import struct
from random import Random
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatch as AiokafkaBatch
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cluster_impl.wire import batches
from fencepost.cluster_impl.wire.batches import Batch
from fencepost.cluster_impl.wire.codec import Malformed

RECORDS = st.lists(
    st.tuples(st.none() | st.binary(max_size=200), st.none() | st.binary(max_size=200), st.integers(0, 2**40)),
    min_size=1,
    max_size=20,
)


def build(count: int = 3, **fields: Any) -> bytes:
    return batches.build([(b"key", b"value %d" % number, 1000 + number) for number in range(count)], **fields)


@given(RECORDS, st.booleans())
def test_what_is_built_is_parsed_again(records: list[tuple[bytes | None, bytes | None, int]], control: bool) -> None:
    (batch,) = batches.split(batches.build(records, base_offset=50, leader_epoch=3, control=control))
    assert batch.verify_crc()
    assert batch.is_control is control
    assert (batch.base_offset, batch.next_offset, batch.count) == (50, 50 + len(records), len(records))
    assert batch.max_timestamp == max(timestamp for _, _, timestamp in records)
    parsed = batches.parse(batch)
    assert [(record.key, record.value, record.timestamp) for record in parsed] == records
    assert [record.offset for record in parsed] == list(range(50, batch.next_offset))


@given(RECORDS)
def test_aiokafka_parses_what_is_built(records: list[tuple[bytes | None, bytes | None, int]]) -> None:
    theirs = AiokafkaBatch(batches.build(records, base_offset=7, producer_id=9, producer_epoch=2, base_sequence=4))
    assert theirs.validate_crc()
    assert (theirs.producer_id, theirs.base_sequence) == (9, 4)
    assert [(record.key, record.value, record.timestamp) for record in theirs] == records


@given(RECORDS)
def test_what_aiokafka_builds_is_parsed(records: list[tuple[bytes | None, bytes | None, int]]) -> None:
    builder = DefaultRecordBatchBuilder(2, 0, True, 9, 2, 4, 1 << 20)
    for number, (key, value, timestamp) in enumerate(records):
        builder.append(number, timestamp, key, value, [("header", b"is skipped")])
    (batch,) = batches.split(bytes(builder.build()))
    assert batch.verify_crc()
    assert batch.is_transactional
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (9, 2, 4)
    assert [(record.key, record.value, record.timestamp) for record in batches.parse(batch)] == records


def test_patching_moves_a_batch_and_leaves_its_checksum_valid() -> None:
    buffer = bytearray(build() + build())
    second = len(buffer) // 2
    batches.patch(buffer, second, 1234, 56)
    first_batch, second_batch = batches.split(buffer)
    assert (first_batch.base_offset, second_batch.base_offset, second_batch.leader_epoch) == (0, 1234, 56)
    assert first_batch.verify_crc()
    assert second_batch.verify_crc()


def test_every_other_damaged_byte_is_noticed() -> None:
    good = build()
    unprotected = {*range(8), *range(12, 16)}
    for position in set(range(len(good))) - unprotected:
        damaged = bytearray(good)
        damaged[position] ^= 1
        try:
            found = batches.split(damaged)
        except Malformed:
            continue
        assert not found[0].verify_crc(), f"byte {position}"


@pytest.mark.parametrize("end", [1, 11, 12, 16, 17, 60, 61, 80])
def test_a_batch_that_is_cut_off_is_malformed(end: int) -> None:
    with pytest.raises(Malformed, match="it is cut off at byte"):
        batches.split(build() + build()[:end])


def test_old_magic_and_impossible_lengths_are_malformed() -> None:
    old = bytearray(build())
    old[16] = 1
    with pytest.raises(Malformed, match="magic 1 is not 2"):
        batches.split(old)
    for length in (-1, 0, 48):
        short = bytearray(build())
        struct.pack_into(">i", short, 8, length)
        with pytest.raises(Malformed, match=f"a length of {length} is too short"):
            batches.split(short)
    backwards = bytearray(build())
    struct.pack_into(">i", backwards, 23, -1)
    with pytest.raises(Malformed, match="its last offset delta is -1"):
        batches.split(backwards)


def test_nothing_is_no_batch() -> None:
    assert batches.split(b"") == []


def test_sequences_wrap_to_zero() -> None:
    (batch,) = batches.split(build(3, producer_id=1, producer_epoch=0, base_sequence=2**31 - 2))
    assert batch.last_sequence == 0


def test_records_of_a_compressed_batch_are_not_read() -> None:
    compressed = bytearray(build())
    compressed[22] |= 1
    with pytest.raises(Malformed, match="it is compressed"):
        batches.parse(Batch(memoryview(compressed)))


def test_damaged_records_are_malformed_or_parsed_and_nothing_else() -> None:
    random = Random(1)
    for _ in range(2000):
        damaged = bytearray(build())
        for _ in range(random.randint(1, 3)):
            damaged[random.randrange(57, len(damaged))] = random.randrange(256)
        try:
            batches.parse(Batch(memoryview(damaged)))
        except Malformed:
            pass
