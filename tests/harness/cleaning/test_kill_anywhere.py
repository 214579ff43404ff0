"""A harness that is killed at any moment leaves nothing, and harms nobody: three moments of the hundred that
`python -m tests.harness.processes.kill_anywhere` tries."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.processes.kill_anywhere import by_fork, killed

pytestmark = pytest.mark.integration


def test_after_a_kill_at_a_random_moment_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    trials = list(killed(3, 631, "process", tmp_path, by_fork("plain")))
    assert [trial.wrong for trial in trials] == [[], [], []]
    assert sum(trial.started for trial in trials) > 0
