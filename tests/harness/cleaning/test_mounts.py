"""Mounts of dead runs are taken down; those of others, at the same place or over them, are not."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from fencepost.harness.cleaning.cleanup import clean
from fencepost.harness.cleaning.mounts import mounts, of_run, remove
from fencepost.harness.disks import unavailable_reason
from fencepost.harness.processes import table
from fencepost.harness.processes.resources import ResourceRecords, read_resources

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(unavailable_reason() is not None, reason=str(unavailable_reason())),
]

EMPTY = """
import stat, sys
from mfusepy import FUSE, Operations
class Empty(Operations):
    def getattr(self, path, fh=None): return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
    def readdir(self, path, fh): return [".", ".."]
FUSE(Empty(), sys.argv[1], foreground=True, fsname=sys.argv[2])
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def test_a_mount_that_a_dead_run_recorded_is_taken_down_though_its_server_lives(run: Path) -> None:
    stamp = ResourceRecords(run).intend("mount", str(run / "a dir"), node="node-4")
    with _mounted(run / "a dir", stamp.fsname):
        [found] = clean(run, dry_run=True).found
        assert (found.kind, found.what, found.id) == ("mount", "node-4", str(run / "a dir"))
        assert clean(run).found == (found,)
        assert _at(run / "a dir") == []
    assert read_resources(run) == []


def test_a_foreign_mount_at_a_recorded_place_survives(run: Path) -> None:
    ResourceRecords(run).intend("mount", str(run / "dir"))
    with _mounted(run / "dir", "fencepost-of-another") as server:
        assert clean(run).found == ()
        assert _at(run / "dir") == ["fencepost-of-another"]
        assert table.identify(server.pid) is not None


def test_a_mount_that_lies_over_one_of_ours_is_not_touched_and_the_reason_is_reported(run: Path) -> None:
    stamp = ResourceRecords(run).intend("mount", str(run / "dir"))
    with ExitStack() as stack:
        stack.enter_context(_mounted(run / "dir", stamp.fsname))
        stack.enter_context(_mounted(run / "dir", "of-another"))
        [problem] = clean(run).problems
        assert "hidden under something that is mounted over it" in problem
        assert _at(run / "dir") == [stamp.fsname, "of-another"]
        assert [each.id for each in read_resources(run)] == [str(run / "dir")]


def test_a_mount_that_was_unmounted_meanwhile_is_no_error(run: Path) -> None:
    stamp = ResourceRecords(run).intend("mount", str(run / "dir"))
    with _mounted(run / "dir", stamp.fsname):
        found = of_run(run)
    remove(found)
    assert read_resources(run) == []


def test_a_mount_that_never_came_to_be_is_not_looked_for_again(run: Path) -> None:
    ResourceRecords(run).intend("mount", str(run / "dir"))
    assert clean(run).found == ()
    assert read_resources(run) == []


def _at(point: Path) -> list[str]:
    return [mount.source for mount in mounts() if mount.point == str(point)]


@contextmanager
def _mounted(point: Path, source: str) -> Iterator[subprocess.Popen[bytes]]:
    point.mkdir(exist_ok=True) if not _at(point) else None
    before = len(_at(point))
    with subprocess.Popen([sys.executable, "-c", EMPTY, str(point), source]) as server:
        try:
            _await(lambda: len(_at(point)) > before)
            yield server
        finally:
            if source in _at(point):
                subprocess.run(["umount", "-l", str(point)], check=True)
            server.kill()


def _await(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
