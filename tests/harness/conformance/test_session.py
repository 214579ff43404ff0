"""A story in a test: its verdict is the test's, and whoever watches is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.conformance import allure_report, session
from harness.conformance.outcome import Violation
from harness.conformance.progress import VARIABLE
from harness.conformance.session import Session, Settings
from harness.plan.model import NodeSpec, Plan, Topology
from harness.pytest_plugin import STORY_PROPERTY, VERDICT_PROPERTY
from results.records.folder import RunFolder
from results.records.verdict import RunVerdict, Verdict

NODE = NodeSpec(name="node-1", id=1, index=1, roles=("controller",))
PLAN = Plan(
    story="s",
    title="A story",
    document="KIP-631",
    seed=1,
    target="quorum",
    topology=Topology(nodes=(NODE,)),
    requirements=("A",),
)


@pytest.fixture
def properties(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """Of a test's report. Nothing is attached to the report of this test itself."""
    monkeypatch.setattr(allure_report, "label", lambda *_: None)
    monkeypatch.setattr(allure_report, "attach", lambda *_: None)
    return []


def told(
    verdict: Verdict, tmp_path: Path, properties: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    """The progress lines of a story whose run comes to this verdict. Raises what `prove` raises, after reading them."""
    progress = tmp_path / "progress.jsonl"
    monkeypatch.setenv(VARIABLE, str(progress))
    ended = RunVerdict(verdict, "headline", "s", "quorum", "hash", 1.0, 1, 0, ())
    monkeypatch.setattr(session, "run", lambda *_, **__: (RunFolder(tmp_path / "run"), ended))
    try:
        Session(Settings("quorum", 1, tmp_path, "process"), properties).prove(PLAN, "Fencing")
    finally:
        lines = [json.loads(line) for line in progress.read_text().splitlines()]
        assert [line["phase"] for line in lines] == ["starting", "done"]
        assert lines[-1]["verdict"] == verdict.value
    return lines


def test_a_story_that_passed_is_told_and_recorded(
    tmp_path: Path, properties: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = told(Verdict.PASS, tmp_path, properties, monkeypatch)
    assert (lines[-1]["headline"], lines[-1]["run"]) == ("headline", str(tmp_path / "run"))
    assert properties == [(STORY_PROPERTY, "s"), (VERDICT_PROPERTY, "pass")]


def test_a_violation_is_recorded_before_it_is_raised(
    tmp_path: Path, properties: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Violation):
        told(Verdict.VIOLATION, tmp_path, properties, monkeypatch)
    assert dict(properties)[VERDICT_PROPERTY] == "violation"


def test_a_story_that_the_target_cannot_do_is_skipped_with_the_reason(
    tmp_path: Path, properties: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = tmp_path / "progress.jsonl"
    monkeypatch.setenv(VARIABLE, str(progress))
    with pytest.raises(pytest.skip.Exception, match="not capable of pause"):
        Session(Settings("x", 1, tmp_path, "process"), properties).skip(
            "s", "A story", ("A",), "x is not capable of pause"
        )
    line = json.loads(progress.read_text())
    assert (line["phase"], line["headline"]) == ("skipped", "x is not capable of pause")
    assert properties == []
