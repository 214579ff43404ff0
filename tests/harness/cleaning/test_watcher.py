"""When a harness dies, its watcher leaves nothing of the run; when a run ends as it should, the watcher just ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.harness.cleaning.cleanup import left_behind
from fencepost.harness.cleaning.watcher import CLEANED, WATCHED, Watcher
from fencepost.harness.processes import table
from fencepost.harness.processes.records import RECORDS, living, read_records
from fencepost.harness.processes.resources import ResourceRecords, read_resources
from fencepost.results.records.journal import read_journal

pytestmark = pytest.mark.integration

DYING_HARNESS = """
import sys, time
from pathlib import Path
from fencepost.harness.backends.process import Command, ProcessBackend
from fencepost.harness.processes.resources import ResourceRecords, read_resources
from fencepost.harness.cleaning.watcher import Watcher
from fencepost.harness.network.lease import Lease
from fencepost.results.records.journal import JournalWriter
run = Path(sys.argv[1])
journal = JournalWriter(run / "journal.jsonl")
with Watcher(run), Lease.acquire(run, lambda addresses: []):
    backend = ProcessBackend(run / "processes.jsonl", run)
    backend.start("node-1", Command(["sleep", "60"]))
    backend.start("node-2", Command(["sleep", "60"]))
    backend.pause("node-2")
    journal.write("run", "x", "begin")
    print("up", flush=True)
    sys.stdin.readline()
    backend.stop_all()
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


def test_what_a_killed_harness_left_is_gone_without_anybody_asking(run: Path) -> None:
    with _harness(run) as harness:
        harness.kill()
    _await(lambda: (run / CLEANED).exists() and not _watchers(run))
    [line] = map(json.loads, (run / CLEANED).read_text().splitlines())
    assert [each.partition(" (")[0] for each in line["found"][:2]] == ["process node-1", "process node-2"]
    assert line["problems"] == []
    assert living(read_records(run / RECORDS)) == []
    assert left_behind() == []
    assert read_journal(run / "journal.jsonl").damaged == ()


def test_a_watcher_outlives_a_signal_to_the_whole_group_of_its_harness(run: Path) -> None:
    with _harness(run) as harness:
        os.killpg(harness.pid, signal.SIGHUP)
    _await(lambda: (run / CLEANED).exists() and not _watchers(run))
    assert living(read_records(run / RECORDS)) == []


def test_a_run_that_ends_as_it_should_has_no_watcher_any_more_and_no_line_of_it(run: Path) -> None:
    with _harness(run) as harness:
        _await(lambda: len(_watchers(run)) == 1)
        harness.communicate("\n")
    assert harness.returncode == 0
    assert _watchers(run) == []
    assert not (run / CLEANED).exists()


def test_what_a_run_could_not_end_itself_is_its_watcher_s_once_it_is_over(run: Path) -> None:
    with Watcher(run):
        ResourceRecords(run).intend("mount", str(run / "given-up"))
    _await(lambda: (run / CLEANED).exists() and not _watchers(run))
    assert read_resources(run) == []


def test_a_watcher_that_is_dead_is_no_error(run: Path) -> None:
    with Watcher(run):
        _await(lambda: bool(_watchers(run)))
        [watcher] = _watchers(run)
        assert table.end(watcher)


def test_a_watcher_is_started_in_a_few_milliseconds(run: Path) -> None:
    with Watcher(run):  # ended children of earlier tests are counted by now
        pass
    began = time.process_time(), os.times().children_user + os.times().children_system
    for _ in range(5):
        with Watcher(run):
            pass
    used = time.process_time() - began[0], os.times().children_user + os.times().children_system - began[1]
    assert sum(used) / 5 < 0.05


def _harness(run: Path) -> subprocess.Popen[str]:
    harness = subprocess.Popen(
        [sys.executable, "-c", DYING_HARNESS, str(run)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert harness.stdout is not None
    assert harness.stdout.readline() == "up\n"
    return harness


def _watchers(run: Path) -> list[table.Identity]:
    return [each for each in table.all_processes() if table.environment(each.pid).get(WATCHED) == str(run)]


def _await(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
