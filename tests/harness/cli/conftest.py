"""The command as a user meets it, without a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fencepost.harness.cli.main import run_command


@dataclass
class Done:
    code: int
    out: str
    err: str


Fencepost = Callable[..., Done]


@pytest.fixture
def fencepost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fencepost:
    """The command, in this process, with a state folder of its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("COLUMNS", "110")

    def run(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            run_command(arguments)
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return run
