"""Compaction against a model: the last record of each key stays, at its offset, and the log stays a log."""

from __future__ import annotations

import zlib
from pathlib import Path
from random import Random
from typing import Any

import crc32c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.cluster_impl.storage.compaction import Abandoned, CompactionLimits, compact
from fencepost.cluster_impl.storage.log import Log
from fencepost.cluster_impl.storage.producers import ProducerStates
from fencepost.cluster_impl.storage.recent import Memory
from fencepost.cluster_impl.wire.batches import HEADER_BYTES, Batch, Record, build, parse, without_records

NOW, DAY = 1_000_000_000, 86_400_000

Entry = tuple[bytes | None, bytes | None, int]


def limits(delete_retention_ms: int = DAY, segment_bytes: int = 10**6) -> CompactionLimits:
    return CompactionLimits(now_ms=NOW, delete_retention_ms=delete_retention_ms, segment_bytes=segment_bytes)


def append(log: Log, entries: list[Entry], epoch: int = 0, **fields: Any) -> None:
    log.append_as_leader(bytearray(build(entries, **fields)), epoch)


def records(log: Log) -> list[Record]:
    return [record for batch in log.batches(log.log_start_offset) for record in parse(batch)]


def compacted(log: Log, asked: CompactionLimits | None = None) -> bool:
    closed = log.segments.closed(log.log_end_offset)
    return log.adopt_compacted(closed, compact([segment.path for segment in closed], asked or limits()))


def expected(before: list[Record], closed_end: int, delete_before: int) -> list[Record]:
    latest = {record.key: record.offset for record in before if record.offset < closed_end}
    return [
        record
        for record in before
        if record.offset >= closed_end
        or record.key is None
        or (latest[record.key] == record.offset and (record.value is not None or record.timestamp >= delete_before))
    ]


KEYS = st.sampled_from([b"a", b"b", b"c", b"d", None])
ENTRIES = st.tuples(KEYS, st.one_of(st.none(), st.binary(max_size=30)), st.integers(NOW - 100, NOW))
BATCHES = st.lists(st.tuples(st.lists(ENTRIES, min_size=1, max_size=4), st.booleans()), min_size=1, max_size=25)


@pytest.mark.requirement("DSTO-11")
@settings(max_examples=120, deadline=None)
@given(
    batches=BATCHES,
    segment_bytes=st.integers(100, 600),
    merged_bytes=st.sampled_from([1, 500, 10**6]),
    delete_retention=st.integers(0, 100),
    passes=st.integers(1, 3),
)
def test_the_last_record_of_each_key_stays_at_its_offset(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[tuple[list[Entry], bool]],
    segment_bytes: int,
    merged_bytes: int,
    delete_retention: int,
    passes: int,
) -> None:
    directory = tmp_path_factory.mktemp("log")
    log = Log.open(directory, segment_bytes=segment_bytes, memory=Memory(0))
    epoch = 0
    for entries, next_epoch in batches:
        epoch += next_epoch
        append(log, entries, epoch)
    before, epochs, end = records(log), log.epochs.entries, log.log_end_offset
    closed = log.segments.closed(end)
    closed_end = closed[-1].next_offset if closed else 0
    for _ in range(passes):
        if closed:
            assert compacted(log, limits(delete_retention, merged_bytes))
    left = expected(before, closed_end, NOW - delete_retention)
    assert records(log) == left
    assert (log.log_start_offset, log.log_end_offset, log.epochs.entries) == (0, end, epochs)
    for record in left:
        (first, *_) = list(log.batches(record.offset))
        assert record in parse(first)
        assert log.epochs.epoch_at(record.offset) == first.leader_epoch
    for timestamp in range(NOW - 100, NOW + 1, 20):
        found = log.offset_for_timestamp(timestamp)
        first_left = next((record for record in left if record.timestamp >= timestamp), None)
        assert (found and found.offset) == (first_left and first_left.offset)
    log.close()
    again = Log.open(directory, memory=Memory(0))
    assert again.recovered_bytes_cut == 0
    assert records(again) == left
    assert again.epochs.entries == epochs
    again.close()


def in_segments(directory: Path, *entries: Entry) -> Log:
    """A log of one segment for each record."""
    log = Log.open(directory, segment_bytes=1, memory=Memory(0))
    for entry in entries:
        append(log, [entry])
    return log


@pytest.mark.requirement("DSTO-12")
@pytest.mark.parametrize("renamed", range(4))
@pytest.mark.parametrize("removes", [False, True])
def test_a_crash_while_segments_are_replaced_leaves_a_whole_log(tmp_path: Path, renamed: int, removes: bool) -> None:
    """Kill the process after any number of renames, before or after the covered segments are removed."""
    values: list[Entry] = [(b"k", bytes([number]), NOW) for number in range(9)]
    values[2], values[5] = (b"2", b"2", NOW), (b"5", b"5", NOW)
    log = in_segments(tmp_path, *values, (b"other", b"x", NOW))
    closed = log.segments.closed(log.log_end_offset)
    size = closed[0].size
    made = compact([segment.path for segment in closed], limits(segment_bytes=2 * size + 60))
    assert [each.covers for each in made] == [3, 3, 3]
    log.close()
    paths = [segment.path for segment in closed]
    for number, each in enumerate(made[:renamed]):
        each.path.replace(paths[3 * number])
        if number < renamed - 1 or removes:
            for path in paths[3 * number + 1 : 3 * number + 3]:
                path.unlink()
    again = Log.open(tmp_path, memory=Memory(0))
    assert (again.log_start_offset, again.log_end_offset) == (0, 10)
    assert not [*tmp_path.glob("*.compacted")]
    found = {record.key: record.value for record in records(again)}
    assert found == {b"k": bytes([8]), b"2": b"2", b"5": b"5", b"other": b"x"}
    assert again.recovered_bytes_cut == 0
    again.close()


def test_a_segment_that_was_cut_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    log = in_segments(tmp_path, *[(b"k", b"v", NOW)] * 5)
    closed = log.segments.closed(5)
    made = compact([segment.path for segment in closed], limits())
    log.truncate_to(2)
    append(log, [(b"k", b"new", NOW)])
    before = records(log)
    assert not log.adopt_compacted(closed, made)
    assert records(log) == before
    assert not [*tmp_path.glob("*.compacted")]
    log.close()


def test_only_committed_closed_segments_are_compacted_and_the_ratio_tells_when(tmp_path: Path) -> None:
    log = in_segments(tmp_path, *[(b"k", b"v", NOW)] * 5)
    assert [segment.base_offset for segment in log.segments.closed(3)] == [0, 1, 2]
    assert log.segments.dirty_ratio(log.segments.closed(5)) == 1.0
    assert compacted(log)
    assert log.segments.dirty_ratio(log.segments.closed(5)) == 0.0
    assert log.segments.dirty_ratio(()) == 0.0
    append(log, [(b"k", b"v", NOW)])
    assert 0 < log.segments.dirty_ratio(log.segments.closed(6)) < 1
    log.close()


@pytest.mark.requirement("DSTO-13")
def test_the_last_batch_of_a_producer_stays_though_it_is_empty(tmp_path: Path) -> None:
    log = Log.open(tmp_path, segment_bytes=1, memory=Memory(0))
    for sequence in range(4):
        append(log, [(b"k", b"v", NOW)], producer_id=7, producer_epoch=0, base_sequence=sequence)
    append(log, [(b"k", b"newer", NOW)])
    append(log, [(b"end", b"", NOW)])
    assert compacted(log)
    states = ProducerStates.rebuilt(log.batches(0))
    repeated = bytearray(build([(b"k", b"v", NOW)], producer_id=7, producer_epoch=0, base_sequence=3))
    found = states.check(Batch(memoryview(repeated)))
    assert found is not None
    assert found.base_offset == 3
    assert [record.offset for record in records(log)] == [4, 5]
    log.close()


def test_compressed_batches_stay_whole_and_tombstones_behind_them(tmp_path: Path) -> None:
    plain = build([(b"k", b"old", NOW - 2 * DAY)])
    packed = bytearray(plain[:HEADER_BYTES] + zlib.compress(plain[HEADER_BYTES:]))
    packed[8:12] = (len(packed) - 12).to_bytes(4, "big")
    packed[22] |= 1
    packed = bytearray(packed)
    packed[17:21] = _crc(packed)
    log = Log.open(tmp_path, segment_bytes=1, memory=Memory(0))
    log.append_as_leader(packed, 0)
    append(log, [(b"k", None, NOW - 2 * DAY)])
    append(log, [(b"end", b"", NOW)])
    assert compacted(log)
    kept = list(log.batches(0))
    assert kept[0].is_compressed
    assert [(record.key, record.value) for record in parse(kept[1])] == [(b"k", None)]
    log.close()


def _crc(batch: bytearray) -> bytes:
    return crc32c.crc32c(memoryview(batch)[21:]).to_bytes(4, "big")


def test_a_compaction_that_is_stopped_leaves_no_files(tmp_path: Path) -> None:
    log = in_segments(tmp_path, *[(b"k", b"v", NOW)] * 5)
    before = sorted(tmp_path.iterdir())
    asked = CompactionLimits(now_ms=NOW, delete_retention_ms=0, segment_bytes=1, stopped=lambda: True)
    with pytest.raises(Abandoned):
        compact([segment.path for segment in log.segments.closed(5)], asked)
    assert sorted(tmp_path.iterdir()) == before
    log.close()


def test_headers_of_records_stay_as_they_are() -> None:
    random = Random(3)
    entries: list[Entry] = [(random.randbytes(5), random.randbytes(20), NOW + number) for number in range(6)]
    batch = Batch(memoryview(build(entries, base_offset=40, leader_epoch=3)))
    kept = parse(batch)[1:5:2]
    reduced = Batch(memoryview(without_records(batch, kept)))
    assert reduced.verify_crc()
    assert parse(reduced) == kept
    assert (reduced.base_offset, reduced.last_offset, reduced.leader_epoch) == (40, 45, 3)
    assert (reduced.count, reduced.max_timestamp) == (2, kept[-1].timestamp)
