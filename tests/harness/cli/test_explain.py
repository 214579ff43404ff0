"""`explain` says what a rule or a check is, what asks and judges it, and which run showed it last."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.harness.catalogue import catalogue
from fencepost.harness.cli import completion
from fencepost.harness.cli.explaining import known_names
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict
from tests.harness.cli.conftest import Fencepost


def _run(runs: Path, name: str, state: RequirementState, at: float, target: str = "quorum:1") -> RunFolder:
    """Store a run with this state of K631-32, judged at this time."""
    folder = RunFolder.create_at(runs / name)
    findings = (Finding(Verdict.PASS, "lost-write", "t", "m", requirement="ACK-01", evidence={"judged": 4}),)
    results = (RequirementResult("K631-32", state),)
    RunVerdict(Verdict.PASS, "h", "sleeping-leader", target, "0", 1.0, 9, 0, findings, results).save(folder.verdict)
    os.utime(folder.verdict, (at, at))
    return folder


def test_a_rule_is_explained_from_its_text_to_the_command_that_shows_it(fencepost: Fencepost, tmp_path: Path) -> None:
    done = fencepost("explain", "K631-32", "--runs", str(tmp_path / "none"))
    assert done.code == 0
    row = catalogue()["K631-32"]
    lines = done.out.splitlines()
    assert lines[0] == f"K631-32     {row.says}"
    assert f"document    {catalogue().document('KIP-631').title}" in lines
    assert f"            {catalogue().document('KIP-631').url}" in lines, "an address stays in one line"
    assert f"section     {row.section}" in lines
    assert "never `served`: alone-metadata, alone-fetch, alone-produce" in done.out
    assert "as AK-04" in done.out
    assert f"last run no run in {tmp_path / 'none'} exercised it" in " ".join(done.out.split())  # however it wraps
    [command] = [line for line in lines if line.startswith("try ")]
    assert "fencepost run" in command
    assert "--target quorum" in command


def test_the_newest_run_that_exercised_a_rule_is_its_evidence(fencepost: Fencepost, tmp_path: Path) -> None:
    _run(tmp_path, "2026-01-01-old", RequirementState.BROKEN, at=1000.0)
    shown = _run(tmp_path / "campaign", "2026-01-02-shown", RequirementState.HELD, at=2000.0)
    _run(tmp_path, "2026-01-03-idle", RequirementState.NOT_EXERCISED, at=3000.0)
    (tmp_path / "2026-01-04-torn").mkdir()
    (tmp_path / "2026-01-04-torn" / "verdict.json").write_text('{"format"')
    done = fencepost("explain", "k631-32", "--target", "quorum", "--runs", str(tmp_path))
    lines = done.out.splitlines()
    assert "last run    held in sleeping-leader on quorum:1; verdict of the run: pass" in lines
    assert lines[-1] == f"report      {shown.report}"
    assert "2026-01-04-torn" in done.err


@pytest.mark.parametrize(
    ("target", "shown"), [("quorum", "quorum:1"), ("apache-kafka", "apache-kafka:3.9.1"), ("quorum:1", "quorum:1")]
)
def test_a_target_limits_the_scenarios_and_the_runs(
    fencepost: Fencepost, tmp_path: Path, target: str, shown: str
) -> None:
    _run(tmp_path, "2026-01-01-here", RequirementState.HELD, 1000.0)
    _run(tmp_path, "2026-01-02-there", RequirementState.HELD, 2000.0, target="apache-kafka:3.9.1")
    _run(tmp_path, "2026-01-03-beside", RequirementState.HELD, 500.0, target="quorum:0")
    done = fencepost("explain", "K631-32", "--target", target, "--runs", str(tmp_path))
    assert f"held in sleeping-leader on {shown}; verdict of the run: pass" in done.out
    others = {"quorum", "apache-kafka"} - {target.partition(":")[0]}
    assert not any(f"on {other}" in done.out for other in others)


def test_a_release_limits_the_runs(fencepost: Fencepost, tmp_path: Path) -> None:
    _run(tmp_path, "2026-01-01-old", RequirementState.HELD, 1000.0, target="apache-kafka:3.9.1")
    _run(tmp_path, "2026-01-02-new", RequirementState.HELD, 2000.0, target="apache-kafka:4.1.0")
    done = fencepost("explain", "K631-32", "--target", "apache-kafka:3.9.1", "--runs", str(tmp_path))
    assert "held in sleeping-leader on apache-kafka:3.9.1" in done.out
    nothing = fencepost("explain", "K631-32", "--target", "quorum", "--runs", str(tmp_path))
    assert "no run in" in nothing.out


def test_a_rule_that_every_run_is_judged_by_names_its_checks(fencepost: Fencepost) -> None:
    done = fencepost("explain", "SEG-03", "--target", "quorum")
    assert "checks      log-epochs-grow, in every run: A leader epoch goes back within a log" in done.out


def test_a_row_names_the_decisions_that_it_is_read_with(fencepost: Fencepost) -> None:
    done = fencepost("explain", "K631-42", "--target", "quorum")
    assert "read with   D631-10: " in done.out


def test_a_check_is_explained_with_the_rule_that_it_judges(fencepost: Fencepost, tmp_path: Path) -> None:
    folder = _run(tmp_path, "2026-01-01-old", RequirementState.HELD, at=1000.0)
    done = fencepost("explain", "lost-write", "--runs", str(tmp_path))
    assert done.out.splitlines() == [
        "lost-write  Acknowledged records are lost.",
        "judges      ACK-01: No record acknowledged at acks=all is lost. (fencepost guarantees, Acknowledged records)",
        "evidence    an event that is missing, so that a damaged journal withdraws a violation",
        "code        fencepost.harness.checkers.lost_write",
        "last run    pass in sleeping-leader on quorum:1; verdict of the run: pass",
        f"report      {folder.report}",
    ]


def test_json_has_all_scenarios_and_tests(fencepost: Fencepost) -> None:
    [rule, check] = json.loads(fencepost("explain", "LIVE-01", "coverage", "--target", "leader-driven", "--json").out)
    assert rule["id"] == "LIVE-01"
    assert len(rule["scenarios"]) > 90
    assert {"target", "scenario", "title", "claims"} <= set(rule["scenarios"][0])
    assert check["check"] == "coverage"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("K631-321", "no requirement and no check is called K631-321: did you mean K631-32"),
        ("K631", "K631 is a prefix of 72 ids, K631-01 to K631-72: name one of them"),
        ("lostwrite", "did you mean lost-write?"),
        ("?", "press tab to complete an id"),
    ],
)
def test_a_wrong_id_is_answered_with_the_nearest_one(fencepost: Fencepost, name: str, message: str) -> None:
    done = fencepost("explain", name)
    assert message in done.err
    assert done.code != 0
    assert done.out == ""


def test_the_rules_and_checks_of_a_target_file_are_explained_with_it(tmp_path: Path) -> None:
    """In a process of its own: the modules and catalogues of a target file stay loaded."""
    acme = str(Path("docs/examples/acme-broker/acme.yaml").resolve())
    command = [sys.executable, "-m", "fencepost.harness.cli", "explain", "ACME-01", "acme-quick-answers"]
    done = subprocess.run(
        [*command, "--target", acme, "--runs", str(tmp_path)], capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "ACME-01     A follower that was paused returns to the ISR by itself.", done.stderr
    assert "document    The handbook of Acme's broker" in lines
    assert f"try         fencepost run acme-paused-follower --target {acme}" in lines
    assert "acme-quick-answers An answer came late." in lines
    assert "code        acme_checkers" in lines


def test_ids_complete_from_all_catalogues_and_checks() -> None:
    assert set(completion.rules("")) == set(known_names())
    assert "K631-32" in completion.rules("k631-3")
    assert completion.rules("lost-") == ["lost-write"]


def test_every_id_can_be_explained(fencepost: Fencepost, tmp_path: Path) -> None:
    done = fencepost("explain", *known_names(), "--target", "quorum", "--runs", str(tmp_path))
    assert done.code == 0, done.err
    for row in catalogue():
        assert f"\n{row.id}" in f"\n{done.out}"


def test_a_rule_of_upgrades_is_explained_without_a_target(fencepost: Fencepost, tmp_path: Path) -> None:
    done = fencepost("explain", "UPG-02", "--runs", str(tmp_path))
    assert "asked by    2 scenarios on apache-kafka:4.3.1..4.4.0" in done.out
    assert "2 scenarios on apache-kafka-zk:3.8.1..3.9.2" in done.out
    [command] = [line for line in done.out.splitlines() if line.startswith("try ")]
    assert "fencepost run rolling-upgrade --target apache-kafka:4.3.1..4.4.0" in command


def test_the_usual_upgrade_adds_no_scenario_that_the_release_itself_is_asked(fencepost: Fencepost) -> None:
    assert ".." not in fencepost("explain", "K631-32").out
