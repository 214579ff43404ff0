"""A harness that is killed at any moment leaves nothing, and harms no other run: three moments of the hundred that
`python -m tests.harness.processes.kill_anywhere` tries."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.processes.waiting import within
from fencepost.results.records.journal import read_journal
from tests.harness.processes.kill_anywhere import GONE_WITHIN, by_fork, killed, left

pytestmark = pytest.mark.integration


def test_after_a_kill_at_a_random_moment_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    trials = list(killed(3, 631, "process", tmp_path, by_fork("plain")))
    assert [trial.wrong for trial in trials] == [[], [], []]
    assert sum(trial.started for trial in trials) > 0


def test_two_runs_side_by_side_do_not_disturb_one_another_even_if_one_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    begin = by_fork("plain")
    dying, living = begin(tmp_path / "dying"), begin(tmp_path / "living")
    assert within(GONE_WITHIN, lambda: any("proven" in file.read_text() for file in tmp_path.glob("dying/*/*.jsonl")))
    dying.kill()
    assert living.wait() == 0
    [dead], [whole] = (tmp_path / "dying").iterdir(), (tmp_path / "living").iterdir()
    assert within(GONE_WITHIN, lambda: not left(dead, "process"))
    assert left(whole, "process") == []
    journal = read_journal(whole / "journal.jsonl")
    assert journal.finished
    assert [event.data["failures"] for event in journal.of("run", "end")] == [[]]
    assert {event.phase for event in journal.of("fault")} == {"intent", "injected", "proven", "recovering", "healed"}
    assert not (whole / "cleaned.jsonl").exists()
