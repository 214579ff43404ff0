"""The place of a run in its plan, and the time that it still takes."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from fencepost.harness.cli.run_progress import EarlierRun, RunProgress, last_complete_run
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter

STEPS = {"cut": "node-4 is cut off from node-5", "wait": "Wait until t-0 has a leader"}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("fencepost.harness.cli.run_progress.time.monotonic", lambda: now[0])
    return now


def test_time_left_is_what_the_earlier_run_took_from_this_step_on(clock: list[float]) -> None:
    pace = RunProgress(STEPS, EarlierRun({"cut": 4.0, "wait": 6.0}, 20.0), 100.0, _since=100.0)
    clock[0] = 109.0  # starting took longer than it did then
    pace.enter("wait")
    clock[0] = 110.0
    assert str(pace) == "2/2  Wait until t-0 has a leader   10 s   about 13 s left"


def test_a_scenario_that_never_ran_here_takes_what_scenarios_of_its_kind_take(clock: list[float]) -> None:
    pace = RunProgress({"cut": STEPS["cut"]}, EarlierRun(seconds=30.0), 100.0, _since=100.0)
    clock[0] = 110.0
    assert str(pace) == "starting the cluster   10 s   about 20 s left"
    clock[0] = 140.0
    assert pace.left() is None, "a run that takes longer than the estimate has none"


def test_without_any_earlier_run_only_the_place_is_shown(clock: list[float]) -> None:
    pace = RunProgress(STEPS, began=100.0)
    pace.enter("cut")
    assert str(pace) == "1/2  node-4 is cut off from node-5   0 s"


def test_a_log_has_each_step_in_words_and_the_proof_of_each_fault(clock: list[float]) -> None:
    pace = RunProgress(STEPS, began=100.0)
    assert pace.enter("running") == "   0.0 s  running"
    clock[0] = 102.0
    assert pace.enter("cut") == "   2.0 s  1/2  node-4 is cut off from node-5   [cut]"
    clock[0] = 103.5
    assert pace.enter("cut", "no round trip in 500 ms") == "   3.5 s       proven: no round trip in 500 ms"
    assert str(pace) == "1/2  node-4 is cut off from node-5, proven   4 s"
    pace.enter("wait")
    assert str(pace) == "2/2  Wait until t-0 has a leader   4 s"


def test_the_last_run_that_came_to_its_end_counts(tmp_path: Path) -> None:
    for number, (whole, wall) in enumerate([(True, 10), (True, 20), (False, 30)]):
        folder = RunFolder.create(tmp_path, "abcdef0123", date(2026, 11, 21))
        times = iter([0.0, 0.0, 1.0 + number, 5.0 + number])
        with JournalWriter(folder.journal, monotonic=lambda times=times: next(times)) as journal:  # type: ignore[misc]
            journal.write("run", "r", "begin")
            journal.write("step", "cut", "begin")
            if whole:
                journal.write("run", "r", "end")
        folder.verdict.write_text("{}")
        os.utime(folder.verdict, (wall, wall))
    (tmp_path / "2026-11-22-abcdef01").mkdir()
    (tmp_path / "2026-11-22-abcdef01" / "verdict.json").write_text("{}")
    assert last_complete_run(tmp_path, "abcdef0123") == EarlierRun({"cut": 2.0}, 6.0)
    assert last_complete_run(tmp_path, "ffffff0123") is None
