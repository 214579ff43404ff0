"""A campaign runs plans, goes on after a failure, and ends with a summary."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from rich.console import Console

from fencepost.harness.campaign.campaign import Campaign, Order
from fencepost.harness.campaign.coverage import Meeting
from fencepost.harness.campaign.planner import LeftOut
from fencepost.harness.campaign.summary import PlanOutcome, Summary
from fencepost.harness.cli.campaign import FAILED_STARTS, run_campaign, show_plans
from fencepost.harness.cli.campaign_summary import shown
from fencepost.harness.report.ci_summary import markdown
from fencepost.results.records.progress import Phase, ProgressLine
from fencepost.results.records.verdict import Verdict
from tests.waiting import eventually

ORDER = Order("quorum:1", "process", 7, 60, 1)


def outcome(number: int, verdict: Verdict, *differences: str) -> PlanOutcome:
    run = f"runs/run-{number}"
    return PlanOutcome(number, 7_000_000 + number, f"plan {number}", verdict, 10.0, "what was found", run, differences)


def summary(*outcomes: PlanOutcome, met: tuple[Meeting, ...] = (), interrupted: int = 0) -> Summary:
    return Summary(ORDER, 100.0, outcomes, interrupted, met, (LeftOut("memory", "no container"),))


def text(written: Summary) -> str:
    console = Console(width=120, record=True, quiet=True)
    with console.capture() as captured:
        wide = Console(width=120, file=console.file)
        for rendered in shown(written):
            wide.print(rendered)
    return captured.get()


def test_the_worst_verdict_is_the_campaigns() -> None:
    written = summary(outcome(1, Verdict.PASS), outcome(2, Verdict.INCONCLUSIVE), outcome(3, Verdict.VIOLATION))
    assert written.verdict is Verdict.VIOLATION
    assert [each.number for each in written.failures] == [3, 2]
    assert summary().verdict is Verdict.INCONCLUSIVE


def test_a_ci_system_gets_the_plans_that_failed_without_a_history() -> None:
    written = summary(outcome(1, Verdict.PASS), outcome(2, Verdict.VIOLATION))
    shown = markdown(written.as_suite())
    assert shown.startswith("## ❌ fencepost: violation on quorum 1, process, seed 7\n")
    assert "### ❌ violation: `plan-7000002`\n\nplan 2\n\n> what was found\n" in shown
    assert "- replay: `fencepost replay runs/run-2`" in shown
    assert "since" not in shown


def test_the_summary_is_a_file_that_machines_read() -> None:
    written = summary(
        outcome(1, Verdict.PASS, "LF-01"), outcome(2, Verdict.VIOLATION), met=(Meeting("kill", "leader", "serving"),)
    )
    data = json.loads(json.dumps(written.to_json()))
    assert data["exit_code"] == 1
    assert data["counts"] == {"pass": 1, "violation": 1, "infrastructure": 0, "inconclusive": 0}
    assert data["failures"][0]["replay"] == "fencepost replay runs/run-2"
    assert data["differences"] == {"LF-01": [7_000_001]}
    assert data["coverage"] == [{"fault": "kill", "role": "leader", "state": "serving", "times": 1}]
    assert data["left_out"] == [{"kind": "memory", "reason": "no container"}]


def test_each_failure_is_shown_with_the_command_that_replays_it(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(width=120)
    written = summary(outcome(1, Verdict.PASS, "LF-01"), outcome(2, Verdict.INCONCLUSIVE), interrupted=1)
    for rendered in shown(written):
        console.print(rendered)
    said = capsys.readouterr().out
    assert "fencepost replay runs/run-2" in said
    assert "1 interrupted" in said
    assert "LF-01" in said


def test_plans_of_a_campaign_come_from_its_seed_and_their_number() -> None:
    other = Order("quorum:1", "process", 8, 60, 1)
    assert ORDER.plan(3) == ORDER.plan(3)
    assert len({ORDER.plan_seed(1), ORDER.plan_seed(2), other.plan_seed(1)}) == 3


def test_a_dry_run_names_plans_and_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show_plans(Order("quorum", "process", 7, 60, 1, plans=2), Console(width=200))
    said = capsys.readouterr().out
    assert "7000001" in said and "7000002" in said
    assert ORDER.plan(1).title[:40] in said


def test_a_run_that_dies_without_a_verdict_is_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    console = Console(quiet=True)
    code = run_campaign(Order("quorum", "process", 7, 60, 2, plans=2), tmp_path, console)
    (folder,) = tmp_path.glob("campaign-*")
    written = json.loads((folder / "summary.json").read_text())
    assert code == Verdict.INFRASTRUCTURE.exit_code
    assert written["counts"]["infrastructure"] == 2
    assert "Campaign on quorum 1" in (folder / "index.html").read_text()
    assert folder.name in (tmp_path / "index.html").read_text()


def test_what_refuses_every_plan_is_not_asked_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    code = run_campaign(Order("quorum", "process", 7, 60, 1), tmp_path, Console(quiet=True))
    (folder,) = tmp_path.glob("campaign-*")
    written = json.loads((folder / "summary.json").read_text())
    assert code == Verdict.INFRASTRUCTURE.exit_code
    assert written["counts"]["infrastructure"] == FAILED_STARTS


def test_no_plan_is_begun_when_the_time_is_up(tmp_path: Path) -> None:
    with Campaign.create(Order("quorum:1", "process", 7, 0.0, 2), tmp_path) as campaign:
        assert campaign.over
        assert list(campaign.step()) == []
        assert campaign.attempts == []


def patient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_interrupt: str) -> None:
    """In place of a run: a process that waits until it is interrupted, and says that it is ready for that."""
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\ntrap '{on_interrupt}' INT\ntouch {tmp_path}/ready\nwhile :; do sleep 0.05; done\n")
    script.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(script))


def begun(tmp_path: Path, campaign: Campaign) -> None:
    assert list(campaign.step()) == []
    deadline = time.monotonic() + 20
    while not (tmp_path / "ready").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_interrupted_runs_end_in_order_and_are_no_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient(tmp_path, monkeypatch, "exit 0")
    with Campaign.create(Order("quorum:1", "process", 7, 60, 1), tmp_path / "runs") as campaign:
        begun(tmp_path, campaign)
        campaign.interrupt()
        assert list(campaign.step(begin=False)) == []
        (attempt,) = campaign.attempts
        assert attempt.interrupted and attempt.ended
        assert attempt.process.returncode == 0


def test_a_run_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.harness.engine.watchdog.GRACE", 0.2)
    patient(tmp_path, monkeypatch, "")
    with Campaign.create(Order("quorum:1", "process", 7, 60, 1), tmp_path / "runs") as campaign:
        begun(tmp_path, campaign)
        campaign.interrupt()
        assert campaign.attempts[0].process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(("verdict", "counted"), [("violation", 1), ("infrastructure", 0)])
def test_a_rule_that_was_broken_before_an_interrupt_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: str, counted: int
) -> None:
    line = ProgressLine("$(basename $5 .yaml)", "title", (), Phase.DONE, verdict=verdict, seconds=1.0)
    said = json.dumps(asdict(line)).replace('"', '\\"')
    patient(tmp_path, monkeypatch, f'echo "{said}" >> $FENCEPOST_PROGRESS; exit 1')

    sleep = time.sleep

    def interrupted(seconds: float) -> None:
        if (tmp_path / "ready").exists():
            monkeypatch.setattr("fencepost.harness.cli.campaign.time.sleep", sleep)
            raise KeyboardInterrupt
        sleep(seconds)

    monkeypatch.setattr("fencepost.harness.cli.campaign.time.sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_campaign(Order("quorum", "process", 7, 60, 1), tmp_path / "runs", Console(quiet=True))
    (folder,) = (tmp_path / "runs").glob("campaign-*")
    written = json.loads((folder / "summary.json").read_text())
    assert (written["counts"][verdict], written["interrupted"]) == (counted, 1 - counted)


def in_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str) -> Campaign:
    """Run a campaign of three plans for one cluster, whose process tells the end of the first plan and then ends."""
    line = ProgressLine("$(basename $5 .yaml)", "title", (), Phase.DONE, verdict="pass", seconds=1.0)
    said = json.dumps(asdict(line)).replace('"', '\\"')
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\necho "{said}" >> $FENCEPOST_PROGRESS\n{ends}\n')
    script.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(script))
    seed = next(seed for seed in range(100) if [_order(seed).place(each) for each in (1, 2, 3)] == [0, 1, 2])
    with Campaign.create(_order(seed), tmp_path / "runs") as campaign:

        def over() -> bool:
            list(campaign.step())
            return campaign.over

        eventually(over)
    return campaign


def _order(seed: int) -> Order:
    return Order("quorum:1", "process", seed, 60, 2, plans=3, plans_per_cluster=3)


def test_plans_of_one_cluster_have_one_process_and_those_that_it_did_not_begin_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = in_chain(tmp_path, monkeypatch, "exit 0")
    assert [each.number for each in campaign.attempts] == [1]


def test_a_process_that_fails_does_so_at_one_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = in_chain(tmp_path, monkeypatch, "exit 1")
    assert [each.number for each in campaign.attempts] == [1, 2]
    assert len({each.process.pid for each in campaign.attempts}) == 1
