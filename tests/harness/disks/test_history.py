"""The earlier content of files, block by block."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from fencepost.harness.disks import history as module
from fencepost.harness.disks.history import BLOCK, BlockHistory

LONG = 3600.0


class Log:
    """A file that is changed by the calls that a mount makes of it."""

    def __init__(self, folder: Path, history: BlockHistory, name: str = "log") -> None:
        self.folder, self.history, self.name = folder, history, name
        self.fd = os.open(folder / name, os.O_RDWR | os.O_CREAT)

    def write(self, offset: int, data: bytes) -> None:
        self.history.writes(self.name, self.fd, offset, offset + len(data))
        os.pwrite(self.fd, data, offset)

    def cut(self, length: int) -> None:
        self.history.cuts(self.name, self.fd, length)
        os.ftruncate(self.fd, length)

    def rename(self, new: str) -> None:
        self.history.renames(self.name, self.folder / self.name, new, self.folder / new)
        (self.folder / self.name).rename(self.folder / new)
        self.name = new

    def earlier(self, age: float = 0.0, *, behind_cuts: bool = False) -> dict[int, bytes]:
        return dict(self.history.earlier(self.name, self.fd, age, behind_cuts=behind_cuts))


@pytest.fixture
def history() -> BlockHistory:
    made = BlockHistory()
    made.begin()
    return made


@pytest.fixture
def log(tmp_path: Path, history: BlockHistory) -> Log:
    return Log(tmp_path, history)


def test_nothing_is_kept_before_it_is_asked_for(tmp_path: Path) -> None:
    log = Log(tmp_path, history := BlockHistory())
    log.write(0, b"a" * 10)
    log.cut(5)
    log.rename("renamed")
    assert history.paths() == []
    history.begin()
    log.write(0, b"b")
    assert log.earlier(LONG) == {0: b"aaaaa"}


def test_a_block_goes_back_to_before_the_latest_change_and_keeps_its_length(log: Log) -> None:
    log.write(0, b"a" * 6000)
    log.write(5000, b"b" * 10)
    log.write(6000, b"c" * 100)
    assert log.earlier() == {1: b"a" * 904 + b"b" * 10 + b"a" * 990 + bytes(100)}
    assert log.earlier(LONG) == {0: bytes(BLOCK), 1: bytes(2004)}


def test_changes_that_leave_a_block_as_it_was_are_passed_over(log: Log) -> None:
    log.write(0, b"a" * 10)
    log.write(0, b"b" * 10)
    log.write(0, b"b" * 10)
    assert log.earlier() == {0: b"a" * 10}


def test_what_was_cut_off_comes_back_only_if_that_is_asked_for(log: Log) -> None:
    log.write(0, b"old" * 100)
    log.cut(100)
    log.write(100, b"n" * 200)
    assert log.earlier(LONG) == {0: (b"old" * 100)[:100] + bytes(200)}
    assert log.earlier(LONG, behind_cuts=True) == {0: bytes(300)}
    assert log.earlier() == {0: (b"old" * 100)[:100] + bytes(200)}


def test_a_file_that_replaced_another_goes_back_to_that_one(tmp_path: Path, history: BlockHistory) -> None:
    Log(tmp_path, history, "vote").write(0, b"epoch 1, with more to say")
    new = Log(tmp_path, history, "vote.tmp")
    new.write(0, b"epoch 2")
    new.rename("vote")
    assert history.paths() == ["vote"]
    assert new.earlier() == {0: b"epoch 1"}


def test_a_renamed_file_and_those_in_a_renamed_folder_keep_their_past(tmp_path: Path, history: BlockHistory) -> None:
    (tmp_path / "t-0").mkdir()
    log = Log(tmp_path, history, "t-0/a.swap")
    log.write(0, b"1")
    log.rename("t-0/a")
    history.renames("t-0", tmp_path / "t-0", "t-0.deleted", tmp_path / "t-0.deleted")
    assert history.paths() == ["t-0.deleted/a"]
    history.removes("t-0.deleted/a")
    assert history.paths() == []


def test_the_oldest_changes_are_given_up_where_there_are_too_many_bytes(
    tmp_path: Path, history: BlockHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HISTORY_BYTES", 20_000)
    seldom, often = Log(tmp_path, history, "seldom"), Log(tmp_path, history, "often")
    seldom.write(0, b"1")
    for letter in b"abcdef":
        often.write(0, bytes([letter]) * BLOCK)
    assert history.paths() == ["often"]
    assert often.earlier(LONG) == {0: b"b" * BLOCK}
    seldom.write(0, b"2")
    assert seldom.earlier(LONG) == {0: b"1"}


@pytest.mark.parametrize("seed", range(20))
def test_a_file_as_a_whole_goes_back_to_any_earlier_length(log: Log, seed: int) -> None:
    draw = random.Random(seed)
    log.write(0, draw.randbytes(3 * BLOCK))
    before = os.pread(log.fd, 10 * BLOCK, 0)
    own = BlockHistory()
    own.begin()
    log.history = own
    for _ in range(20):
        if draw.random() < 0.2:
            log.cut(draw.randrange(4 * BLOCK))
        else:
            log.write(draw.randrange(4 * BLOCK), draw.randbytes(draw.randrange(1, BLOCK)))
    now = os.pread(log.fd, 10 * BLOCK, 0)
    expected = before.ljust(len(now), b"\0")[: len(now)]
    earlier = log.earlier(LONG, behind_cuts=True)
    blocks = range(-(-len(now) // BLOCK))
    assert b"".join(earlier.get(n, now[n * BLOCK :][:BLOCK]) for n in blocks) == expected
