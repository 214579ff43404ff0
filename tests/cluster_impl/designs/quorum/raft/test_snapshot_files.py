"""Snapshot files: whole or refused, and never half there."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.designs.quorum.raft.snapshot_files import SnapshotFiles
from fencepost.cluster_impl.designs.quorum.raft.snapshot_format import DamagedSnapshot, read_snapshot, snapshot_parts

VALUES = [str(number).encode() * 20 for number in range(1200)]
FIRST, SECOND = EpochEnd(2, 100), EpochEnd(3, 250)


def content(values: list[bytes] = VALUES) -> bytes:
    return b"".join(snapshot_parts(SECOND, values))


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1200])
def test_what_is_written_is_read(count: int) -> None:
    assert read_snapshot(content(VALUES[:count])) == VALUES[:count]


@pytest.mark.requirement("D631-29")
def test_a_snapshot_that_was_not_written_to_its_end_is_refused_wherever_it_ends() -> None:
    whole = content()
    for end in (*range(0, len(whole), 97), len(whole) - 1):
        with pytest.raises(DamagedSnapshot, match=r"part [0-4] at byte"):
            read_snapshot(whole[:end])


@pytest.mark.requirement("D631-29")
def test_a_damaged_byte_is_refused_and_its_part_is_named() -> None:
    whole = content()
    for position in range(30, len(whole), 331):
        damaged = bytearray(whole)
        damaged[position] ^= 0x40
        with pytest.raises(DamagedSnapshot, match=r"part [0-4] at byte"):
            read_snapshot(damaged)
    last_records = bytearray(whole)
    last_records[-200] ^= 1
    with pytest.raises(DamagedSnapshot, match=r"part 3 at byte .*: its checksum is wrong"):
        read_snapshot(last_records)


def test_parts_that_are_missing_doubled_or_left_over_are_refused() -> None:
    header, first, second, third, footer = snapshot_parts(SECOND, VALUES)
    for wrong in (
        (header, first, third, footer),
        (header, first, first, second, third, footer),
        (first, second, third, footer),
        (header, first, second, third, footer, footer),
        (header, header, footer),
    ):
        with pytest.raises(DamagedSnapshot):
            read_snapshot(b"".join(wrong))


@pytest.mark.requirement("D631-29")
def test_a_damaged_snapshot_is_named_in_the_log_and_the_one_before_is_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = SnapshotFiles(tmp_path)
    files.write(FIRST, VALUES[:3])
    files.write(SECOND, VALUES)
    assert files.find().snapshots == (FIRST, SECOND)
    assert files.find().values == VALUES
    path = files.path(SECOND)
    assert path.name == "00000000000000000250-0000000003.checkpoint"
    path.write_bytes(path.read_bytes()[:-1])
    with caplog.at_level(logging.ERROR):
        found = files.find()
    assert (found.snapshots, found.values) == ((FIRST,), VALUES[:3])
    assert str(path) in caplog.text
    assert "torn" in caplog.text


@pytest.mark.requirement("D631-29")
def test_a_crash_while_a_snapshot_is_written_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def killed(fd: int) -> None:
        raise Killed

    files = SnapshotFiles(tmp_path)
    files.write(FIRST, VALUES[:3])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", killed)
        with pytest.raises(Killed):
            files.write(SECOND, VALUES)
        with pytest.raises(Killed):
            files.write(EpochEnd(3, 260), (value for value in VALUES))
    assert len(list(tmp_path.glob("*.part"))) == 2
    assert SnapshotFiles(tmp_path).find().snapshots == (FIRST,)
    assert not list(tmp_path.glob("*.part"))


def test_a_fetched_snapshot_counts_once_it_is_whole(tmp_path: Path) -> None:
    files, whole = SnapshotFiles(tmp_path), content()
    half = len(whole) // 2
    files.store_part(SECOND, 0, whole[:half])
    with pytest.raises(DamagedSnapshot):
        files.install(SECOND)
    assert files.find().snapshots == ()
    files.store_part(SECOND, 0, b"of another leader" * 10000)
    files.store_part(SECOND, 0, whole[:half])
    files.store_part(SECOND, half, whole[half:])
    assert files.install(SECOND) == VALUES
    assert files.find().snapshots == (SECOND,)


def test_parts_are_read_until_the_end(tmp_path: Path) -> None:
    files = SnapshotFiles(tmp_path)
    files.write(SECOND, VALUES)
    fetched = b""
    while True:
        size, part = files.read_part(SECOND, len(fetched), 10_000)
        fetched += part
        if len(fetched) == size:
            break
    assert read_snapshot(fetched) == VALUES
    assert files.read_part(SECOND, size, 10) == (size, b"")


def test_earlier_snapshots_are_removed(tmp_path: Path) -> None:
    files = SnapshotFiles(tmp_path)
    for snapshot in (FIRST, SECOND):
        files.write(snapshot, VALUES[:1])
    files.remove_before(SECOND)
    assert files.find().snapshots == (SECOND,)
