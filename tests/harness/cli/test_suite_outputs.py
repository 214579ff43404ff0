"""Annotations appear where a CI system reads them, and nowhere else."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from fencepost.harness.cli.options import Annotations
from fencepost.harness.cli.suite_outputs import CiOutputs
from fencepost.harness.report.suite_results import ScenarioResult, SuiteResult
from fencepost.results.records.verdict import Verdict

FAILED = ScenarioResult("alone", "Alone", (), Verdict.VIOLATION, None, 1.0, "[bold] " + "a long headline " * 20)


@pytest.mark.parametrize(
    ("annotations", "on_github", "shown"),
    [
        (Annotations.AUTO, "true", True),
        (Annotations.AUTO, "", False),
        (Annotations.GITHUB, "", True),
        (Annotations.NONE, "true", False),
    ],
)
def test_an_annotation_is_one_whole_line(
    annotations: Annotations, on_github: str, shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", on_github)
    out = StringIO()
    suite = SuiteResult("quorum", "1", "process", 1, 0.0, 1.0, (FAILED,))
    CiOutputs(annotations=annotations).write(suite, tmp_path, Console(file=out, width=80))
    lines = out.getvalue().splitlines()
    assert lines == ([f"::error title=violation%3A alone::{FAILED.headline}"] if shown else [])
