"""The verdict of checks that Spark made, and how it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.cli import recheck as command
from fencepost.results.mining.data_checks import Checked
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import Verdict


def row(check: str, judged: int, wrong: int = 0) -> dict[str, Any]:
    example = {"topic": "t", "partition": 0, "offset": 7, "value": "v7", "process": "p", "t": 1.5}
    examples = [example] if wrong else []
    return {"check": check, "rule": "ACK-01", "judged": judged, "wrong": wrong, "first_s": 1.5, "examples": examples}


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([row("unseen", 9), row("unread", 2)], Verdict.PASS),
        ([row("unseen", 9, 1), row("unread", 2, 1)], Verdict.VIOLATION),
        ([row("unseen", 9), row("unread", 2, 1)], Verdict.INCONCLUSIVE),
        ([row("unseen", 0), row("unread", 0)], Verdict.INCONCLUSIVE),
    ],
)
def test_a_verdict_needs_a_promise_and_a_final_read(rows: list[dict[str, Any]], verdict: Verdict) -> None:
    assert command.verdict_of(rows) is verdict


def test_wrong_items_topics_left_out_and_torn_lines_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder.create_at(tmp_path / "run")
    folder.plan.write_text("")
    folder.journal.write_text("")
    checked = Checked((row("unseen", 9, 1), row("unread", 2)), ("gone",), 1)
    monkeypatch.setattr(command, "_checked", lambda *_: checked)
    assert command.recheck_on_spark(folder.path, False, "1g") == Verdict.VIOLATION.exit_code
    shown = capsys.readouterr().out
    for text in ("9 judged, 1 wrong, the first at 1.50 s", "t-0 7  v7, p, 1.50 s", "1 unreadable line", ": gone"):
        assert text in shown
    assert command.recheck_on_spark(folder.path, True, "1g") == Verdict.VIOLATION.exit_code
    assert '"format": "fencepost-recheck-spark/1"' in capsys.readouterr().out
