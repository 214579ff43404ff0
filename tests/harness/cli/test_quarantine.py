"""`results quarantine` writes what was mined, and asks Spark nothing when the file or the store is wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.cli import quarantine as command
from fencepost.harness.cli.commands.store import QuarantineOptions
from fencepost.harness.conformance.quarantine import Quarantine
from fencepost.harness.errors import UsageError
from fencepost.results.store.store import Store

FLAKY = {
    "test": "cut-from-controllers-cut",
    "target": "quorum",
    "backend": "process",
    "failure_rate": 0.2,
    "rate_low": 0.116,
    "rate_high": 0.318,
    "passed_run": "r1",
    "failed_run": "r2",
}


def test_the_file_can_be_read_by_the_suite_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Store.create(str(tmp_path / "store"))
    out = tmp_path / "quarantine.yaml"
    monkeypatch.setattr(command, "_mined", lambda *_: ([FLAKY], []))
    command.quarantine(QuarantineOptions(str(tmp_path / "store"), out, lasts="2w"))
    (entry,) = Quarantine.load(out).tests
    assert entry.reason == "flaky: fails in 20 % of its runs (12 to 32 %); r1 passed and r2 failed with one plan"
    assert entry.expires in {(datetime.now(UTC) + timedelta(days=14 - late)).date() for late in (0, 1)}
    monkeypatch.setattr(command, "_mined", lambda *_: ([], [("cut-from-controllers-cut", "quorum", "process")]))
    command.quarantine(QuarantineOptions(str(tmp_path / "store"), out, lasts="2w"))
    assert Quarantine.load(out).tests == ()
    assert "removed        cut-from-controllers-cut on quorum: is broken" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "lasts", "message"),
    [("nodes: 3\n", "14d", "format"), (None, "14", "no age"), (None, "14d", "is no store")],
)
def test_mistakes_show_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, lasts: str, message: str
) -> None:
    def mined(*_: Any) -> Any:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(command, "_mined", mined)
    out, store = tmp_path / "out.yaml", tmp_path / "store"
    if message != "is no store":
        Store.create(str(store))
    if text is not None:
        out.write_text(text)
    with pytest.raises(UsageError, match=message):
        command.quarantine(QuarantineOptions(str(store), out, lasts=lasts))
