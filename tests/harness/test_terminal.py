"""Text that is written into a log."""

from __future__ import annotations

import subprocess
import sys

import pytest
from rich.text import Text

from fencepost.harness.terminal import terminal

LONG = "replay  fencepost replay " + "/a/folder/with a long name" * 12


@pytest.mark.parametrize("text", [LONG, Text(LONG, "red")])
def test_a_line_of_a_log_is_neither_cut_nor_wrapped(
    text: str | Text, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    terminal().print(text)
    assert capsys.readouterr().out == LONG + "\n"


def test_the_plans_of_a_campaign_are_not_cut_in_a_log() -> None:
    argv = [sys.executable, "-m", "fencepost.harness.cli", "campaign", "quorum", "--dry-run", "--plans", "12"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 12
    assert max(map(len, done.stdout.splitlines())) > 120
