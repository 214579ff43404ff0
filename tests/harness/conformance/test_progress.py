"""Progress lines are whole, in order, and cost nothing without a reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.results.records.progress import VARIABLE, Phase, Progress

KEYS = {"scenario", "title", "requirements", "phase", "step", "verdict", "seconds", "run", "headline"}


def test_each_call_appends_one_line_with_every_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "progress.jsonl"
    monkeypatch.setenv(VARIABLE, str(file))
    progress = Progress.from_environment("s", "A scenario", ["K631-01"])
    progress.report(Phase.STARTING)
    progress.report(Phase.STEP, step="cut")
    progress.report(Phase.DONE, verdict="pass", run="runs/x", headline="held")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["phase"] for line in lines] == ["starting", "step", "done"]
    assert all(set(line) == KEYS for line in lines)
    assert lines[1]["step"] == "cut" and lines[1]["verdict"] is None
    assert lines[2]["seconds"] >= lines[0]["seconds"] >= 0


def test_a_step_of_a_known_plan_is_reported_with_its_place(tmp_path: Path) -> None:
    progress = Progress("s", "A scenario", (), tmp_path / "progress.jsonl")
    progress.steps = {"cut": "node-4 is cut off", "wait": "Wait until t-0 has a leader"}
    progress.report(Phase.STEP, step="cut")
    progress.report(Phase.STEP, step="cut", proof="no round trip")
    progress.report(Phase.STEP, step="wait")
    progress.report(Phase.STEP, step="healing")
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [
        "1/2  node-4 is cut off",
        "1/2  node-4 is cut off, proven",
        "2/2  Wait until t-0 has a leader",
        "healing",
    ]


def test_two_writers_do_not_tear_each_others_lines(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    writers = [Progress(name, "T" * 300, (), file) for name in ("a", "b")]
    for _ in range(50):
        for writer in writers:
            writer.report(Phase.RUNNING)
    assert sum(json.loads(line)["phase"] == "running" for line in file.read_text().splitlines()) == 100


def test_nothing_is_written_without_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    Progress.from_environment("s", "A scenario", ()).report(Phase.DONE)
    assert list(tmp_path.iterdir()) == []
