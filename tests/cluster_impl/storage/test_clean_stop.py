"""The file that a clean stop leaves, and that nothing else is taken for one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fencepost.cluster_impl.storage import clean_stop
from fencepost.cluster_impl.storage.log import Log
from fencepost.cluster_impl.storage.recent import Memory
from fencepost.cluster_impl.storage.segment import Segment
from fencepost.cluster_impl.wire.batches import split
from tests.cluster_impl.storage.records import batch, random_batch
from tests.cluster_impl.storage.test_log import ALL, content, files, filled


@pytest.fixture(autouse=True)
def small_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let logs of a few kilobytes be worth a file."""
    monkeypatch.setattr(clean_stop, "LEAST_BYTES", 1)


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The segments that were read from end to end."""
    found: list[str] = []
    scan = Segment._scan

    def noted(self: Segment, size: int, visit: Callable[[Any], object]) -> int:
        if size:
            found.append(self.path.name)
        return scan(self, size, visit)

    monkeypatch.setattr(Segment, "_scan", noted)
    return found


def stopped(directory: Path, seed: int, segment_bytes: int = 8000) -> tuple[Log, bytes]:
    """A log that was stopped cleanly, closed, and its bytes."""
    log, everything = filled(directory, seed, segment_bytes=segment_bytes)
    log.stop(["producers"])
    log.close()
    return log, everything


@pytest.mark.requirement("DSTO-03")
@pytest.mark.parametrize("seed", range(5))
def test_after_a_clean_stop_nothing_is_read_and_all_answers_are_the_same(
    tmp_path: Path, seed: int, scanned: list[str]
) -> None:
    random = Random(seed)
    log, everything = filled(tmp_path, seed, segment_bytes=random.choice((8000, 10**6)))
    epochs, end, newest = log.epochs.entries, log.log_end_offset, log.newest_timestamp()
    times = {at: log.offset_for_timestamp(at) for at in random.sample(range(10**6), 50)}
    log.stop(["producers"])
    log.close()
    scanned.clear()
    again = Log.open(tmp_path, segment_bytes=8000, memory=Memory(0))
    assert again.stopped_cleanly
    assert again.stopped_producers == ["producers"]
    assert scanned == []
    assert (again.log_end_offset, again.epochs.entries) == (end, epochs)
    assert {at: again.offset_for_timestamp(at) for at in times} == times
    assert again.newest_timestamp() == newest
    assert content(again) == everything == files(tmp_path)
    for _ in range(50):
        offset = random.randrange(end)
        (first, *_) = split(again.read(offset, 1, ALL))
        assert first.base_offset <= offset < first.next_offset
    cut = again.truncate_to(random.randrange(end))
    again.append_as_leader(batch(2), 99)
    assert again.log_end_offset == cut + 2
    again.close()


@pytest.mark.requirement("DSTO-04")
def test_a_crash_after_a_start_is_never_taken_for_a_clean_stop(tmp_path: Path, scanned: list[str]) -> None:
    _, everything = stopped(tmp_path, 1)
    crashed = Log.open(tmp_path)
    assert crashed.stopped_cleanly
    crashed.close()  # as a process that dies: nothing was appended, so no file tells that it ran
    scanned.clear()
    again = Log.open(tmp_path)
    assert not again.stopped_cleanly
    assert len(scanned) == len([*tmp_path.glob("*.log")])
    assert content(again) == everything
    again.close()


@pytest.mark.requirement("DSTO-04")
def test_a_start_that_fails_leaves_no_clean_stop_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(tmp_path, 1)

    def fails(*_: object) -> None:
        raise OSError("no more file descriptors")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", fails)
        with pytest.raises(OSError, match="file descriptors"):
            Log.open(tmp_path)
    again = Log.open(tmp_path)
    assert not again.stopped_cleanly
    again.close()


def _append(directory: Path) -> None:
    with sorted(directory.glob("*.log"))[-1].open("ab") as file:
        file.write(b"torn")


def _flip(directory: Path) -> None:
    with sorted(directory.glob("*.log"))[0].open("r+b") as file:
        file.seek(70)
        file.write(b"\xff\xff")


def _touch(directory: Path) -> None:
    os.utime(sorted(directory.glob("*.log"))[0])


def _remove_last(directory: Path) -> None:
    sorted(directory.glob("*.log"))[-1].unlink()


def _add(directory: Path) -> None:
    (directory / "00000000000000999999.log").touch()


def _damage_file(directory: Path) -> None:
    path = directory / clean_stop.CLEAN_STOP
    path.write_bytes(path.read_bytes().replace(b'"size":', b'"size":1'))


def _empty_file(directory: Path) -> None:
    (directory / clean_stop.CLEAN_STOP).write_bytes(b"")


@pytest.mark.requirement("DSTO-04")
@pytest.mark.parametrize("change", [_append, _flip, _touch, _remove_last, _add, _damage_file, _empty_file])
def test_files_that_changed_since_the_stop_are_read(
    tmp_path: Path, change: Callable[[Path], None], scanned: list[str]
) -> None:
    stopped(tmp_path, 3)
    change(tmp_path)
    scanned.clear()
    again = Log.open(tmp_path)
    assert not again.stopped_cleanly
    assert scanned
    assert all(each.verify_crc() for each in again.batches(0))
    again.close()


@pytest.mark.requirement("DSTO-05")
@pytest.mark.parametrize("damage", ["removed", "flipped", "short"])
def test_an_index_that_is_not_as_it_was_written_is_made_anew(tmp_path: Path, damage: str) -> None:
    log, everything = filled(tmp_path, 4, segment_bytes=10**6)
    times = {at: log.offset_for_timestamp(at) for at in range(0, 10**6, 50_000)}
    log.stop()
    log.close()
    for path in [*tmp_path.glob("*.index"), *tmp_path.glob("*.timeindex")]:
        content_ = bytearray(path.read_bytes())
        assert content_
        content_[-1] ^= 1
        if damage == "removed":
            path.unlink()
        else:
            path.write_bytes(content_ if damage == "flipped" else content_[:-3])
    again = Log.open(tmp_path, memory=Memory(0))
    assert again.stopped_cleanly
    assert content(again) == everything
    assert {at: again.offset_for_timestamp(at) for at in times} == times
    again.close()


def test_a_second_clean_stop_without_a_lookup_keeps_the_index_files(tmp_path: Path, scanned: list[str]) -> None:
    _, everything = stopped(tmp_path, 5)
    scanned.clear()
    for _ in range(3):
        log = Log.open(tmp_path)
        assert log.stopped_cleanly
        log.stop()
        log.close()
    assert scanned == []
    again = Log.open(tmp_path, memory=Memory(0))
    assert content(again) == everything
    again.close()


def test_deleted_segments_take_their_index_files_with_them(tmp_path: Path) -> None:
    stopped(tmp_path, 6)
    log = Log.open(tmp_path)
    log.truncate_to(0)
    log.close()
    assert {path.stem for path in tmp_path.glob("*index")} <= {path.stem for path in tmp_path.glob("*.log")}


@pytest.mark.requirement("DSTO-06")
def test_a_segment_ends_before_a_record_that_is_too_much_newer_than_its_first(tmp_path: Path) -> None:
    log = Log.open(tmp_path)
    log.segment_ms = 1000
    for timestamp in (5000, 6000, 5500, 6001, 6900, 7002, 100):
        log.append_as_leader(batch(1, timestamp=timestamp), 0)
    assert [int(path.stem) for path in sorted(tmp_path.glob("*.log"))] == [0, 3, 5]
    log.close()
    again = Log.open(tmp_path)
    again.segment_ms = 1000
    again.append_as_leader(batch(1, timestamp=8003), 0)
    assert [int(path.stem) for path in sorted(tmp_path.glob("*.log"))] == [0, 3, 5, 7]
    again.close()


def test_a_random_log_goes_through_clean_stops_crashes_and_cuts(tmp_path: Path) -> None:
    """A model: the batches that were appended and not cut; every start finds exactly them."""
    random = Random(7)
    model: list[bytes] = []
    clean = 0
    for _ in range(60):
        log = Log.open(tmp_path, segment_bytes=5000, memory=Memory(0))
        clean += log.stopped_cleanly
        assert content(log) == b"".join(model) == files(tmp_path)
        for _ in range(random.randrange(4)):
            log.append_as_leader(random_batch(random), 1)
            model = [bytes(each.view) for each in log.batches(0)]
        if random.random() < 0.3 and log.log_end_offset:
            log.truncate_to(random.randrange(log.log_end_offset))
            model = [bytes(each.view) for each in log.batches(0)]
        if random.random() < 0.6:
            log.stop()
        log.close()
    assert 10 < clean < 50
