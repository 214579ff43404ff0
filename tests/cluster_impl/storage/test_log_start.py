"""A log whose records before an offset are deleted: what it shows, what it keeps on disk, what retention chooses."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.cluster_impl.storage.log import Log, OffsetOutOfRange, TimestampedOffset
from fencepost.cluster_impl.storage.recent import Memory
from fencepost.cluster_impl.wire.batches import parse
from tests.cluster_impl.storage.records import batch
from tests.cluster_impl.storage.test_log import filled

FOR_EVER = -1


@pytest.mark.requirement("DSTO-07")
@pytest.mark.parametrize("seed", range(8))
def test_nothing_before_the_start_is_shown_also_not_by_time(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    log, _ = filled(tmp_path, seed, segment_bytes=random.choice((4000, 10**6)))
    records = [record for each in log.batches(0) for record in parse(each)]
    end, start = log.log_end_offset, random.randrange(1, log.log_end_offset + 1)
    log.advance_start(start)
    assert (log.log_start_offset, log.log_end_offset) == (start, end)
    with pytest.raises(OffsetOutOfRange):
        log.read(start - 1, 1000, end)
    left = [record for record in records if record.offset >= start]
    for timestamp in (0, *random.sample(range(10**6), 30)):
        expected = next((record for record in left if record.timestamp >= timestamp), None)
        assert log.offset_for_timestamp(timestamp) == (
            expected and TimestampedOffset(expected.offset, expected.timestamp)
        )
    newest = max((record.timestamp for record in left), default=None)
    found = log.newest_timestamp()
    assert (found and found.timestamp) == newest
    assert all(entry.start_offset >= start for entry in log.epochs.entries[1:])
    log.append_as_leader(batch(1), 99)
    assert log.log_end_offset == end + 1
    log.close()
    again = Log.open(tmp_path, start_offset=start, memory=Memory(0))
    assert (again.log_start_offset, again.log_end_offset) == (start, end + 1)
    again.close()


def test_segments_before_the_start_are_deleted_and_the_last_one_if_all_records_are(tmp_path: Path) -> None:
    log = Log.open(tmp_path, segment_bytes=1000)
    for _ in range(10):
        log.append_as_leader(batch(2, size=200), 0)
    names = [int(path.stem) for path in sorted(tmp_path.glob("*.log"))]
    assert names == [0, 4, 8, 12, 16]
    assert log.begins_segment(8)
    assert not log.begins_segment(9)
    log.advance_start(9)
    assert [int(path.stem) for path in sorted(tmp_path.glob("*.log"))] == [8, 12, 16]
    log.advance_start(20)
    assert [int(path.stem) for path in sorted(tmp_path.glob("*.log"))] == [20]
    log.close()
    again = Log.open(tmp_path)
    assert (again.log_start_offset, again.log_end_offset) == (20, 20)
    again.close()


def test_a_start_beyond_what_a_crash_left_begins_the_log_anew(tmp_path: Path) -> None:
    log, _ = filled(tmp_path, 1)
    end = log.log_end_offset
    log.close()
    again = Log.open(tmp_path, start_offset=end + 5)
    assert (again.log_start_offset, again.log_end_offset) == (end + 5, end + 5)
    again.append_as_leader(batch(1), 0)
    again.close()
    assert Log.open(tmp_path).log_start_offset == end + 5


SIZE = len(batch(1, size=100))


def of_ages(directory: Path, ages: list[int]) -> Log:
    """A log of one segment for each record, with these ages at the time 100000."""
    log = Log.open(directory, segment_bytes=SIZE)
    for age in ages:
        log.append_as_leader(batch(1, size=100, timestamp=100_000 - age), 0)
    return log


@pytest.mark.requirement("DSTO-08")
@settings(max_examples=60, deadline=None)
@given(
    ages=st.lists(st.integers(0, 100), max_size=6),
    limit=st.integers(0, 7),
    retention_ms=st.integers(-1, 100),
    retention_bytes=st.integers(-1, 7 * SIZE),
)
def test_retention_chooses_the_oldest_segments_and_only_committed_ones(
    tmp_path_factory: pytest.TempPathFactory, ages: list[int], limit: int, retention_ms: int, retention_bytes: int
) -> None:
    log = of_ages(tmp_path_factory.mktemp("log"), ages)
    expected = 0
    while expected < min(len(ages), limit):
        too_old = retention_ms >= 0 and ages[expected] > retention_ms
        too_much = retention_bytes >= 0 and (len(ages) - expected - 1) * SIZE >= retention_bytes
        if not (too_old or too_much):
            break
        expected += 1
    assert log.expired_before(limit, 100_000, retention_ms, retention_bytes) == expected
    log.close()


def test_without_limits_nothing_expires(tmp_path: Path) -> None:
    log = of_ages(tmp_path, [100_000] * 5)
    assert log.expired_before(5, 10**15, FOR_EVER, FOR_EVER) == 0
    log.close()
