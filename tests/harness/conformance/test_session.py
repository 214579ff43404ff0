"""A scenario in a test: its verdict is the outcome of the test, and its progress is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.conformance import allure_report, session
from fencepost.harness.conformance.options import SessionOptions
from fencepost.harness.conformance.outcome import NotBegun, Violation
from fencepost.harness.conformance.results import SCENARIO_PROPERTY, VERDICT_PROPERTY
from fencepost.harness.conformance.run_properties import run_properties
from fencepost.harness.conformance.session import Session
from fencepost.harness.plan.file import parse_plan
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.progress import VARIABLE
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import RunVerdict, Verdict

NODE = NodeSpec(name="node-1", id=1, index=1, roles=("controller",))
PLAN = Plan(
    scenario="s",
    title="A scenario",
    document="KIP-631",
    seed=1,
    target="quorum",
    topology=Topology(nodes=(NODE,)),
    requirements=("A",),
)


@pytest.fixture
def properties(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """The properties of a test's report. Nothing is attached to the report of this test itself."""
    monkeypatch.setattr(allure_report, "label", lambda *_: None)
    monkeypatch.setattr(allure_report, "attach", lambda *_: None)
    return []


def reported_progress(
    verdict: Verdict, tmp_path: Path, properties: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    """The progress lines of a scenario whose run comes to this verdict.

    Raises what `prove` raises, after reading them.
    """
    progress = tmp_path / "progress.jsonl"
    monkeypatch.setenv(VARIABLE, str(progress))
    states = {
        "A": RequirementState.HELD,
        "B": RequirementState.NOT_EXERCISED,
        "ACK-01": RequirementState.HELD,
        "ACK-02": RequirementState.BROKEN if verdict is Verdict.VIOLATION else RequirementState.HELD,
    }
    rules = tuple(RequirementResult(*each) for each in states.items())
    ended = RunVerdict(verdict, "headline", "s", "quorum", "hash", 1.0, 1, 0, (), rules)
    folder = RunFolder.create_at(tmp_path / "run")
    Manifest("run", "s", "quorum", "1.0", "process", 1, "hash", 0.0).save(folder.manifest)
    monkeypatch.setattr(session, "run", lambda *_, **__: (folder, ended))
    try:
        Session(SessionOptions("quorum", 1, tmp_path, "process"), properties).prove(PLAN, "Fencing")
    finally:
        lines = [json.loads(line) for line in progress.read_text().splitlines()]
        assert [line["phase"] for line in lines] == ["starting", "done"]
        assert lines[-1]["verdict"] == verdict.value
    return lines


def test_a_scenario_that_passed_is_reported_and_recorded(
    tmp_path: Path, properties: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = reported_progress(Verdict.PASS, tmp_path, properties, monkeypatch)
    assert (lines[-1]["headline"], lines[-1]["run"]) == ("headline", str(tmp_path / "run"))
    assert dict(properties) == {
        SCENARIO_PROPERTY: "s",
        VERDICT_PROPERTY: "pass",
        "fencepost.requirements": "A",
        "fencepost.not_exercised": "B",
        "fencepost.target": "quorum",
        "fencepost.version": "1.0",
        "fencepost.backend": "process",
        "fencepost.seed": "1",
        "fencepost.run": "run",
        "fencepost.report": str(tmp_path / "run" / "report.html"),
        "fencepost.replay": f"fencepost replay {tmp_path / 'run'}",
    }


def test_the_build_and_a_planted_defect_are_recorded(tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "run")
    Manifest(
        "run", "s", "quorum", "1.0", "process", 1, "hash", 0.0, target_digest="sha256:0b3f", target_commit="77aa"
    ).save(folder.manifest)
    verdict = RunVerdict(Verdict.PASS, "h", "s", "quorum", "hash", 1.0, 1, 0, (), (), "no_self_fence")
    recorded = dict(run_properties(PLAN, folder, verdict))
    names = ("digest", "commit", "planted_defect")
    assert [recorded[f"fencepost.{name}"] for name in names] == ["sha256:0b3f", "77aa", "no_self_fence"]


def test_a_violation_is_recorded_before_it_is_raised(
    tmp_path: Path, properties: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Violation):
        reported_progress(Verdict.VIOLATION, tmp_path, properties, monkeypatch)
    assert dict(properties)[VERDICT_PROPERTY] == "violation"
    assert dict(properties)["fencepost.requirements"] == "A ACK-02"
    assert dict(properties)["fencepost.broken"] == "ACK-02: no installed catalogue has this id"


def test_a_plan_that_cannot_begin_is_reported_with_the_reason(
    tmp_path: Path, properties: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = tmp_path / "progress.jsonl"
    monkeypatch.setenv(VARIABLE, str(progress))
    plan = PLAN.model_copy(update={"target": "no-such-target"})
    with pytest.raises(NotBegun, match="no-such-target"):
        Session(SessionOptions("quorum", 1, tmp_path, "process"), properties).prove(plan, "Fencing")
    last = json.loads(progress.read_text().splitlines()[-1])
    assert (last["phase"], last["verdict"]) == ("done", "infrastructure")
    assert "no-such-target" in last["headline"]


def test_a_scenario_that_the_target_cannot_do_is_skipped_with_the_reason(
    tmp_path: Path, properties: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = tmp_path / "progress.jsonl"
    monkeypatch.setenv(VARIABLE, str(progress))
    with pytest.raises(pytest.skip.Exception, match="not capable of pause"):
        Session(SessionOptions("x", 1, tmp_path, "process"), properties).skip(
            "s", "A scenario", ("A",), "x is not capable of pause"
        )
    line = json.loads(progress.read_text())
    assert (line["phase"], line["headline"]) == ("skipped", "x is not capable of pause")
    assert properties == []


def test_a_step_that_the_security_of_the_session_makes_impossible_skips_the_scenario(
    properties: list[tuple[str, object]],
) -> None:
    text = Path("docs/walkthrough.yaml").read_text()
    loss = "fault: lost-request, from: followers:t-0, to: leader:t-0, api: fetch"
    plan = parse_plan(text.replace("fault: pause, nodes: node-5", loss), "plan.yaml")
    with pytest.raises(pytest.skip.Exception, match="`lost-request`: there are no messages to see under TLS"):
        Session(SessionOptions(security="tls-scram"), properties).prove(plan, "s")
