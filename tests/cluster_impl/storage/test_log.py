"""The log: offsets, segments, epochs, reads and truncation."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from random import Random

import crc32c
import pytest

from fencepost.cluster_impl.storage.log import InvalidBatch, Log, OffsetMismatch, OffsetOutOfRange, TimestampedOffset
from fencepost.cluster_impl.storage.recent import Memory
from fencepost.cluster_impl.wire import batches
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.storage.records import batch, random_batch

ALL = 1 << 60


def filled(directory: Path, seed: int, *, segment_bytes: int = 8000, count: int = 60) -> tuple[Log, bytes]:
    """A log of random batches in several epochs, and its bytes."""
    random = Random(seed)
    log = Log.open(directory, segment_bytes=segment_bytes)
    epoch = 0
    for _ in range(count):
        epoch += random.random() < 0.2
        log.append_as_leader(random_batch(random), epoch)
    return log, content(log)


def content(log: Log) -> bytes:
    return b"".join(bytes(each.view) for each in log.batches(log.log_start_offset))


def files(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))


def test_a_leader_stamps_offsets_and_epoch_on_batches(tmp_path: Path) -> None:
    log = Log.open(tmp_path)
    first = log.append_as_leader(batch(3, base_offset=77, leader_epoch=-1), 5)
    second = log.append_as_leader(batch(2) + batch(1), 6)
    assert (first.base_offset, first.last_offset) == (0, 2)
    assert (second.base_offset, second.last_offset) == (3, 5)
    assert log.log_end_offset == 6
    headers = [(each.base_offset, each.leader_epoch, each.verify_crc()) for each in log.batches(0)]
    assert headers == [(0, 5, True), (3, 6, True), (5, 6, True)]


def test_bytes_that_cannot_be_changed_are_copied_to_be_stamped(tmp_path: Path) -> None:
    original = bytes(batch(2))
    log = Log.open(tmp_path)
    log.append_as_leader(batch(1), 0)
    log.append_as_leader(original, 1)
    assert original == batch(2)
    assert [each.base_offset for each in log.batches(0)] == [0, 1]


def test_a_follower_takes_batches_as_they_are_and_ends_with_the_same_files(tmp_path: Path) -> None:
    leader, everything = filled(tmp_path / "leader-0", 1)
    follower = Log.open(tmp_path / "follower-0", segment_bytes=8000)
    while follower.log_end_offset < leader.log_end_offset:
        follower.append_as_follower(leader.read(follower.log_end_offset, 5000, ALL))
    assert content(follower) == everything == files(tmp_path / "follower-0")
    assert follower.epochs.entries == leader.epochs.entries
    leader.close()
    follower.close()


@pytest.mark.parametrize("offset", [0, 2, 4, 100])
def test_a_follower_refuses_gaps_and_overlaps(tmp_path: Path, offset: int) -> None:
    log = Log.open(tmp_path)
    log.append_as_follower(batch(3, base_offset=0, leader_epoch=0))
    with pytest.raises(OffsetMismatch, match=f"begins at offset {offset}, the log ends at 3") as caught:
        log.append_as_follower(batch(1, base_offset=offset, leader_epoch=0))
    assert (caught.value.expected, caught.value.found) == (3, offset)
    with pytest.raises(OffsetMismatch):
        log.append_as_follower(batch(2, base_offset=3, leader_epoch=0) + batch(1, base_offset=6, leader_epoch=0))
    assert log.log_end_offset == 3
    assert len(files(tmp_path)) == len(batch(3))


def damaged(position: int) -> bytearray:
    buffer = batch(2)
    buffer[position] ^= 1
    return buffer


@pytest.mark.parametrize(
    ("buffer", "error"),
    [
        (damaged(16), Error.CORRUPT_MESSAGE),
        (damaged(-1), Error.CORRUPT_MESSAGE),
        (damaged(11), Error.CORRUPT_MESSAGE),
        (batch(2)[:-1], Error.CORRUPT_MESSAGE),
        (batch(2) + b"x", Error.CORRUPT_MESSAGE),
        (b"", Error.CORRUPT_MESSAGE),
        (batch(1) + damaged(-1), Error.CORRUPT_MESSAGE),
    ],
    ids=["magic", "checksum", "length", "cut", "left over", "empty", "second of two"],
)
def test_what_is_not_sound_batches_enters_no_log(tmp_path: Path, buffer: bytearray, error: Error) -> None:
    log = Log.open(tmp_path)
    log.append_as_leader(batch(1), 0)
    before = files(tmp_path)
    with pytest.raises(InvalidBatch) as by_leader:
        log.append_as_leader(buffer, 0)
    with pytest.raises(InvalidBatch) as by_follower:
        log.append_as_follower(buffer)
    assert by_leader.value.error is by_follower.value.error is error
    assert files(tmp_path) == before
    assert log.log_end_offset == 1


def test_a_leader_refuses_a_batch_that_spans_more_offsets_than_it_has_records(tmp_path: Path) -> None:
    sparse = batch(3)
    sparse[57:61] = (2).to_bytes(4, "big")
    sparse[17:21] = crc32c.crc32c(memoryview(sparse)[21:]).to_bytes(4, "big")
    with pytest.raises(InvalidBatch, match="a batch of 2 records spans 3 offsets") as caught:
        Log.open(tmp_path).append_as_leader(sparse, 0)
    assert caught.value.error is Error.INVALID_RECORD


@pytest.mark.parametrize("cached", [True, False], ids=["from memory", "from files"])
def test_reads_begin_with_the_batch_that_holds_the_offset_and_stop_at_size_and_limit(
    tmp_path: Path, cached: bool
) -> None:
    log = Log.open(tmp_path, memory=Memory() if cached else Memory(0))
    size = len(batch(3))
    for _ in range(10):
        log.append_as_leader(batch(3), 0)

    def read(offset: int, max_bytes: int, limit: int) -> list[int]:
        data = log.read(offset, max_bytes, limit)
        return [each.base_offset for each in batches.split(data)]

    assert read(0, 3 * size, ALL) == [0, 3, 6]
    assert read(4, 2 * size, ALL) == [3, 6]
    assert read(4, 2 * size - 1, ALL) == [3], "only whole batches"
    assert read(29, 1, ALL) == [27], "the first whatever its size"
    assert read(0, 10**6, 9) == [0, 3, 6]
    assert read(0, 10**6, 8) == [0, 3], "a batch that reaches over the limit is not shown"
    assert read(0, 10**6, 2) == []
    assert read(9, 10**6, 9) == []
    assert read(30, 10**6, ALL) == []
    for outside in (-1, 31):
        with pytest.raises(OffsetOutOfRange, match=f"{outside} is not in 0..30"):
            read(outside, 1, ALL)


@pytest.mark.parametrize("seed", range(5))
def test_reads_from_memory_and_from_files_are_the_same(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    log, _ = filled(tmp_path, seed)
    again = Log.open(tmp_path, segment_bytes=8000, memory=Memory(0))
    for _ in range(300):
        offset = random.randrange(log.log_end_offset)
        limit = random.choice((ALL, random.randrange(log.log_end_offset)))
        max_bytes = random.choice((1, 500, 5000, 10**6))
        from_file = bytes(again.read(offset, max_bytes, limit))
        assert bytes(log.read(offset, max_bytes, limit)).startswith(from_file)
        assert bool(from_file) == bool(log.read(offset, max_bytes, limit))
    log.close()
    again.close()


def test_segments_roll_by_size_and_have_kafkas_names(tmp_path: Path) -> None:
    log = Log.open(tmp_path, segment_bytes=1000)
    for _ in range(10):
        log.append_as_leader(batch(2, size=200), 0)
    names = [path.name for path in sorted(tmp_path.glob("*.log"))]
    assert names[:2] == ["00000000000000000000.log", "00000000000000000004.log"]
    assert all(path.stat().st_size <= 1000 for path in tmp_path.glob("*.log"))
    log.append_as_leader(batch(1, size=5000), 0)
    assert (tmp_path / "00000000000000000020.log").stat().st_size > 5000, "one batch is never split"
    assert [each.base_offset for each in log.batches(0)] == list(range(0, 21, 2))


@pytest.mark.parametrize("seed", range(20))
def test_truncation_leaves_exactly_the_batches_before_the_offset(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    log, _ = filled(tmp_path, seed, segment_bytes=random.choice((500, 8000, 10**6)))
    headers = list(log.batches(0))
    offset = random.randrange(-1, log.log_end_offset + 2)
    kept = [each for each in headers if each.next_offset <= offset]
    end = log.truncate_to(offset)
    assert end == log.log_end_offset == (kept[-1].next_offset if kept else 0)
    expected = b"".join(bytes(each.view) for each in kept)
    assert content(log) == expected == files(tmp_path)
    assert all(entry.start_offset < end for entry in log.epochs.entries)
    assert log.newest_timestamp() == _newest(kept)
    log.append_as_leader(batch(2), 99)
    assert log.log_end_offset == end + 2
    entries = log.epochs.entries
    log.close()
    again = Log.open(tmp_path)
    assert again.recovered_bytes_cut == 0
    assert again.epochs.entries == entries
    assert content(again) == files(tmp_path)
    again.close()


def _newest(kept: list[batches.Batch]) -> TimestampedOffset | None:
    newest = max((each.max_timestamp for each in kept), default=-1)
    for each in kept:
        for record in batches.parse(each):
            if record.timestamp == newest:
                return TimestampedOffset(record.offset, record.timestamp)
    return None


@pytest.mark.parametrize("seed", range(5))
def test_timestamps_are_found_as_a_search_through_all_records_would(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    log, _ = filled(tmp_path, seed)
    records = [record for each in log.batches(0) for record in batches.parse(each)]
    for _ in range(100):
        timestamp = random.choice((0, random.randrange(10**6), random.choice(records).timestamp, 10**6 + 10))
        expected = next((record for record in records if record.timestamp >= timestamp), None)
        found = log.offset_for_timestamp(timestamp)
        assert found == (expected and TimestampedOffset(expected.offset, expected.timestamp))
    log.close()


def test_an_empty_log_has_no_timestamps(tmp_path: Path) -> None:
    log = Log.open(tmp_path)
    assert log.offset_for_timestamp(0) is None
    assert log.newest_timestamp() is None
    assert list(log.batches(0)) == []


def test_a_full_disk_leaves_the_log_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log.open(tmp_path)
    log.append_as_leader(batch(1), 0)
    before = files(tmp_path)
    writev = os.writev

    def torn(fd: int, buffers: list[bytes]) -> int:
        writev(fd, [buffers[0][:20]])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "writev", torn)
        with pytest.raises(OSError, match="No space left"):
            log.append_as_leader(batch(1), 1)
    assert files(tmp_path) == before
    assert log.log_end_offset == 1
    assert log.epochs.latest == 0
    log.append_as_leader(batch(1), 1)
    assert [each.base_offset for each in log.batches(0)] == [0, 1]


def test_a_write_that_the_system_cuts_short_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writev = os.writev
    monkeypatch.setattr(os, "writev", lambda fd, buffers: writev(fd, [buffers[0][:20]]))
    log = Log.open(tmp_path)
    log.append_as_leader(batch(3), 0)
    monkeypatch.undo()
    assert content(log) == files(tmp_path)
    assert len(files(tmp_path)) == len(batch(3))


def test_large_appends_survive_the_writing_back_and_dropping_of_pages(tmp_path: Path) -> None:
    random = Random(1)
    log = Log.open(tmp_path, memory=Memory(0))
    body = random.randbytes(700_000)
    for number in range(30):
        log.append_as_leader(batches.build([(None, body, number)]), 0)
    assert log.size == len(files(tmp_path)) > 20_000_000
    assert all(each.verify_crc() for each in log.batches(0))
    assert [each.base_offset for each in log.batches(0)] == list(range(30))


def test_flush_makes_every_segment_durable_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(os, "fdatasync", flushed.append)
    log = Log.open(tmp_path, segment_bytes=100)
    for _ in range(3):
        log.append_as_leader(batch(1, size=100), 0)
    log.flush()
    assert len(flushed) == len(set(flushed)) == 3
    log.append_as_leader(batch(1, size=100), 0)
    log.flush()
    assert len(flushed) == 5, "the segment that was the last, and the new one"
