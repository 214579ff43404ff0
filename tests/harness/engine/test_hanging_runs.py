"""A campaign and a suite end, and list each plan, whatever hangs in a worker of theirs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fencepost.harness.campaign import campaign
from fencepost.harness.campaign.campaign import Order
from fencepost.harness.cleaning.cleanup import clean
from fencepost.harness.cli.campaign import run_campaign
from fencepost.harness.cli.commands.scenarios import ConformanceOptions
from fencepost.harness.cli.conformance import run_suites
from fencepost.harness.cli.options import Annotations
from fencepost.harness.engine import watchdog
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.model import ConsumerSpec, Plan, ProducerSpec, TopicSpec, WorkloadSpec
from fencepost.harness.plan.steps.workload import Workload
from fencepost.results.records.verdict import Verdict
from tests.harness.test_run import plan_of

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.integration

PLAN = plan_of(
    Workload(action="start"),
    WorkloadAcks(more=20, within_ms=20_000),
    scenario="random-7000001",
    topics=(TopicSpec(name="t", assignments=((4, 5),)),),
    workload=WorkloadSpec(
        producers=(ProducerSpec(name="p1", topic="t"),), consumers=(ConsumerSpec(name="c1", topic="t"),)
    ),
)


def one_plan(self: Order, number: int) -> Plan:
    return PLAN


@pytest.mark.parametrize(
    ("hangs", "named"),
    [
        ("client", "the client c1 of the workload did not end: Consumer.close() of c1 has not returned for"),
        ("run", "the run was not over 20 s after its start, and was ended: never (hanging.py:"),
        ("all", "long after its deadline the run was not over, so it was ended: "),
    ],
)
def test_a_campaign_ends_and_lists_the_plan(
    hangs: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = tmp_path / "python"
    worker.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("hanging.py")} "$@"\n')
    worker.chmod(0o755)
    monkeypatch.setenv("HANGS", hangs)
    monkeypatch.setattr(Order, "plan", one_plan)
    monkeypatch.setattr(watchdog, "GRACE", 1.0)
    if hangs == "all":
        monkeypatch.setattr(campaign, "latest_end", lambda plan: 20.0)
        monkeypatch.setattr(watchdog, "OVERDUE", 0.0)
    monkeypatch.setattr(sys, "executable", str(worker))
    code = run_campaign(Order("quorum", "process", 7, 5, 1, plans=1), tmp_path / "runs", Console(quiet=True))
    [folder] = (tmp_path / "runs").glob("campaign-*")
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    [outcome] = summary["failures"]
    assert outcome["headline"].startswith(named)
    assert outcome["verdict"] == "infrastructure"
    assert code == Verdict.INFRASTRUCTURE.exit_code
    verdict = json.loads((Path(outcome["run"]) / "verdict.json").read_text())
    done = {each["check"]: each["evidence"].get("done") for each in verdict["findings"]}
    assert done["produced"] >= 20, "what was seen is judged"
    assert clean(Path(outcome["run"]), dry_run=True).found == ()


def test_a_suite_ends_and_lists_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANGS", "run")
    monkeypatch.setenv("PYTEST_PLUGINS", "tests.harness.engine.hanging")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    results = tmp_path / "results.json"
    options = ConformanceOptions(
        runs=tmp_path / "runs", only="starts-fenced", workers=1, json=results, annotations=Annotations.NONE
    )
    code = run_suites(options, ROOT / "suites", Console(quiet=True))
    assert code == Verdict.INFRASTRUCTURE.exit_code
    [scenario] = json.loads(results.read_text())["scenarios"]
    assert scenario["verdict"] == "infrastructure"
    assert "was not over 20 s after its start, and was ended: never (hanging.py:" in scenario["headline"]
