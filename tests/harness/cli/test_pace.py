"""How far a run is, and how long it still takes."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from harness.cli.pace import Earlier, RunPace, last_whole
from results.records.folder import RunFolder
from results.records.journal import JournalWriter


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("harness.cli.pace.time.monotonic", lambda: now[0])
    return now


def test_time_left_is_what_the_earlier_run_took_from_this_step_on(clock: list[float]) -> None:
    pace = RunPace(("cut", "wait"), Earlier({"cut": 4.0, "wait": 6.0}, 20.0), 100.0, _since=100.0)
    clock[0] = 109.0  # starting took longer than it did then
    pace.enter("wait")
    clock[0] = 110.0
    assert str(pace) == "2/2  wait   10 s   about 13 s left"


def test_a_story_that_never_ran_here_takes_what_stories_of_its_kind_take(clock: list[float]) -> None:
    pace = RunPace(("cut",), Earlier(seconds=30.0), 100.0, _since=100.0)
    clock[0] = 110.0
    assert str(pace) == "starting the cluster   10 s   about 20 s left"
    clock[0] = 140.0
    assert pace.left() is None, "nobody knows how long what is late still takes"


def test_without_any_earlier_run_only_the_place_is_told(clock: list[float]) -> None:
    pace = RunPace(("cut", "wait"), began=100.0)
    pace.enter("cut")
    assert str(pace) == "1/2  cut   0 s"


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
    assert last_whole(tmp_path, "abcdef0123") == Earlier({"cut": 2.0}, 6.0)
    assert last_whole(tmp_path, "ffffff0123") is None
