"""The effect of a power loss on files of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.harness.disks import undo
from fencepost.harness.disks.undo import PAGE, UndoLog


class Disk:
    """Does what it is asked in a folder, and tells the log of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "data"
        self.folder.mkdir()
        self.undo = UndoLog(folder / "data.undo")
        self._open: dict[str, int] = {}

    def write(self, name: str, content: bytes, at: int | None = None) -> None:
        fd = self._fd(name)
        begin = os.fstat(fd).st_size if at is None else at
        self.undo.writes(name, fd, begin, begin + len(content))
        os.pwrite(fd, content, begin)

    def cut(self, name: str, length: int) -> None:
        self.undo.cuts(name, self._fd(name), length)
        os.ftruncate(self._fd(name), length)

    def sync(self, name: str) -> None:
        os.fsync(self._fd(name))
        self.undo.synced(self._fd(name))
        self.undo.committed()

    def remove(self, name: str) -> None:
        self.undo.removes(name, self.folder / name)
        (self.folder / name).unlink()

    def rename(self, old: str, new: str) -> None:
        self.undo.renames(old, self.folder / old, new, self.folder / new)
        (self.folder / old).rename(self.folder / new)
        if old in self._open:
            self._open[new] = self._open.pop(old)

    def mkdir(self, name: str) -> None:
        (self.folder / name).mkdir()
        self.undo.made(name, self.folder / name)

    def content(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def close(self) -> None:
        for fd in self._open.values():
            os.close(fd)

    def _fd(self, name: str) -> int:
        if name not in self._open:
            new = not (self.folder / name).exists()
            self._open[name] = os.open(self.folder / name, os.O_RDWR | os.O_CREAT)
            if new:
                self.undo.made(name, self.folder / name)
        return self._open[name]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path)
    yield made
    made.close()
    made.undo.close()


def test_what_was_written_since_the_last_fsync_is_gone(disk: Disk) -> None:
    disk.write("log", b"x" * 1000)
    disk.sync("log")
    disk.write("log", b"y" * 1000)
    assert disk.undo.lose().files == {"log": (2000, 1000)}
    assert disk.content() == {"log": b"x" * 1000}


def test_what_was_overwritten_and_cut_off_comes_back(disk: Disk) -> None:
    before = bytes(range(256)) * 64
    disk.write("index", before)
    disk.sync("index")
    disk.write("index", b"#" * 5000, at=PAGE - 7)
    disk.write("index", b"*" * 10, at=PAGE)
    disk.cut("index", 9000)
    disk.write("index", b"+" * 20_000)
    disk.undo.lose()
    assert disk.content() == {"index": before}


def test_a_file_of_which_nothing_was_made_durable_never_was(disk: Disk) -> None:
    disk.write("new", b"x")
    assert disk.undo.lose().names == ("new was not made",)
    assert disk.content() == {}


def test_a_name_survives_any_fsync_and_its_bytes_only_their_own(disk: Disk) -> None:
    disk.write("new", b"x" * 10)
    disk.write("other", b"y")
    disk.sync("other")
    disk.undo.lose()
    assert disk.content() == {"new": b"", "other": b"y"}


def test_a_file_that_replaced_another_gives_its_place_back(disk: Disk) -> None:
    disk.write("checkpoint", b"old")
    disk.sync("checkpoint")
    disk.write("checkpoint.tmp", b"new")
    disk.rename("checkpoint.tmp", "checkpoint")
    disk.undo.lose()
    assert disk.content() == {"checkpoint": b"old"}


def test_a_file_is_reported_by_its_newest_name(disk: Disk) -> None:
    disk.write("t-0.tmp", b"x")
    disk.rename("t-0.tmp", "t-0")
    disk.write("other", b"y")
    disk.sync("other")
    assert disk.undo.lose().files == {"t-0": (1, 0)}
    assert undo.moved("t-0/00.log", "t-0", "t-0.5-delete") == "t-0.5-delete/00.log"


def test_a_removed_file_comes_back_with_what_was_durable(disk: Disk) -> None:
    disk.write("log", b"x")
    disk.sync("log")
    disk.write("log", b"y")
    disk.remove("log")
    disk.undo.lose()
    assert disk.content() == {"log": b"x"}


def test_folders_are_unmade_after_what_was_made_in_them(disk: Disk) -> None:
    disk.mkdir("t-0")
    disk.write("t-0/00.log", b"x")
    disk.undo.lose()
    assert not (disk.folder / "t-0").exists()


def test_names_survive_by_themselves_after_a_while(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("fencepost.harness.disks.undo.time.monotonic", lambda: now[0])
    disk.write("old", b"x")
    now[0] = 20.0
    disk.mkdir("new")
    now[0] = 31.0
    assert disk.undo.lose().names == ("new was not made",)
    assert disk.content() == {"old": b""}


def test_what_was_laid_out_is_durable(disk: Disk) -> None:
    disk.write("meta.properties", b"version=1")
    disk.undo.settle()
    lost = disk.undo.lose()
    assert (lost.files, lost.names) == ({}, ())
    assert disk.content() == {"meta.properties": b"version=1"}


def test_nothing_is_left_beside_the_folder(disk: Disk, tmp_path: Path) -> None:
    for number in range(3):
        disk.write("checkpoint.tmp", b"%d" % number)
        disk.rename("checkpoint.tmp", "checkpoint")
    disk.sync("checkpoint")
    assert list((tmp_path / "data.undo").iterdir()) == []
    disk.undo.close()
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
