"""The results of a suite: collected from run folders, written, and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.harness.report.suite_results import (
    ScenarioResult,
    SuiteResult,
    create_suite_folder,
    earlier_suites,
)
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.survey import SUITE_FILE
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict

RULE = RequirementResult("K631-32", RequirementState.BROKEN, "A fenced broker processes no client request.", "KIP-631")
HELD = RequirementResult("ACK-01", RequirementState.HELD)


def _run(runs: Path, verdict: Verdict, *findings: Finding) -> Path:
    folder = RunFolder.create_at(runs / "run-1")
    RunVerdict(verdict, "h", "s", "quorum:1", "0", 4.0, 9, 0, findings, (RULE, HELD)).save(folder.verdict)
    return folder.path


def _suite(*scenarios: ScenarioResult, interrupted: bool = False) -> SuiteResult:
    return SuiteResult("quorum", "1", "process", 7, 1000.0, 9.5, scenarios, interrupted=interrupted)


def _scenario(
    verdict: Verdict | None, name: str = "s", skipped: str | None = None, seconds: float = 1
) -> ScenarioResult:
    return ScenarioResult(name, f"The {name}", ("K631-32",), verdict, skipped, seconds)


def test_a_scenario_has_the_rules_and_the_problems_of_its_run(tmp_path: Path) -> None:
    broken = Finding(Verdict.VIOLATION, "expectations", "t", "2 of 2 were served", "K631-32", "never")
    missed = Finding(Verdict.INCONCLUSIVE, "coverage", "t", "not seen")
    held = Finding(Verdict.PASS, "lost-write", "t", "all there", "ACK-01")
    differs = Finding(Verdict.PASS, "expectations", "t", "as listed", "K631-31", difference="AK-03")
    run = _run(tmp_path, Verdict.VIOLATION, broken, missed, held, differs)
    result = _scenario(Verdict.VIOLATION).with_run(run)
    assert result.rules == (RULE, HELD)
    assert result.broken == (RULE,)
    assert [each.message for each in result.problems] == ["2 of 2 were served", "not seen", "as listed"]
    assert [each.rule for each in result.failures] == ["K631-32"]
    assert result.differences == ("AK-03",)
    assert result.replay == f"fencepost replay {run}"


def test_a_loss_is_one_problem_whatever_rules_it_breaks(tmp_path: Path) -> None:
    lost = Finding(Verdict.VIOLATION, "unseen", "t", "2 records are gone", "ACK-01", "never", also=("SEG-01",))
    part = Finding(Verdict.VIOLATION, "committed-kept", "t", "2 records lack", "SEG-01", "never", part_of="unseen")
    result = _scenario(Verdict.VIOLATION).with_run(_run(tmp_path, Verdict.VIOLATION, part, lost))
    assert [each.message for each in result.failures] == ["2 records are gone"]


def test_a_run_without_a_verdict_leaves_what_is_known(tmp_path: Path) -> None:
    result = _scenario(Verdict.INFRASTRUCTURE).with_run(tmp_path / "gone")
    assert (result.verdict, result.rules, result.report) == (Verdict.INFRASTRUCTURE, (), None)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    broken = Finding(Verdict.VIOLATION, "expectations", "t", "2 of 2 were served", "K631-32", "never")
    result = _suite(
        _scenario(Verdict.VIOLATION).with_run(_run(tmp_path, Verdict.VIOLATION, broken)),
        _scenario(None, "other", "cannot be paused"),
    )
    result.save(tmp_path / SUITE_FILE)
    assert SuiteResult.load(tmp_path / SUITE_FILE) == result


def test_the_file_says_the_verdict_of_the_whole_and_of_each(tmp_path: Path) -> None:
    run = _run(tmp_path, Verdict.VIOLATION)
    RunFolder(run).report.touch()
    _suite(_scenario(Verdict.PASS, "good"), _scenario(Verdict.VIOLATION).with_run(run)).save(tmp_path / SUITE_FILE)
    saved = json.loads((tmp_path / SUITE_FILE).read_text())
    assert (saved["format"], saved["verdict"], saved["exit_code"]) == ("fencepost-suite/1", "violation", 1)
    assert saved["counts"] == {"pass": 1, "violation": 1, "infrastructure": 0, "inconclusive": 0}
    scenario = saved["scenarios"][1]
    assert scenario["rules"][0]["says"] == "A fenced broker processes no client request."
    assert scenario["rules"][0]["state"] == "broken"
    assert (scenario["replay"], scenario["report"]) == (f"fencepost replay {run}", f"{run}/report.html")


@pytest.mark.parametrize(
    ("verdicts", "interrupted", "verdict"),
    [
        ([Verdict.PASS, None], False, Verdict.PASS),
        ([None], False, Verdict.INCONCLUSIVE),
        ([Verdict.PASS], True, Verdict.INFRASTRUCTURE),
        ([Verdict.VIOLATION], True, Verdict.VIOLATION),
    ],
)
def test_a_suite_that_did_not_judge_everything_is_no_pass(
    verdicts: list[Verdict | None], interrupted: bool, verdict: Verdict
) -> None:
    assert _suite(*map(_scenario, verdicts), interrupted=interrupted).verdict is verdict


def test_failures_come_the_worst_first_and_the_slowest_too() -> None:
    suite = _suite(
        _scenario(Verdict.INCONCLUSIVE, "a", seconds=3),
        _scenario(Verdict.PASS, "b", seconds=9),
        _scenario(Verdict.VIOLATION, "c", seconds=5),
    )
    assert [each.scenario for each in suite.failed] == ["c", "a"]
    assert [each.scenario for each in suite.slowest(2)] == ["b", "c"]


def test_each_suite_has_a_folder_of_its_own_that_later_suites_find(tmp_path: Path) -> None:
    first, second = (create_suite_folder(tmp_path, "quorum", 7) for _ in range(2))
    assert first.name.startswith("suite-") and first.name.endswith("-quorum-7")
    assert second.name == f"{first.name}-2"
    _suite(_scenario(Verdict.PASS)).save(first / SUITE_FILE)
    (second / SUITE_FILE).write_text('{"format": "fencepost-suite/9"}')
    assert [each.verdict for each in earlier_suites(tmp_path)] == [Verdict.PASS]


def test_results_of_before_a_field_was_added_are_read(tmp_path: Path) -> None:
    suite = _suite(_scenario(Verdict.PASS))
    written = suite.to_json()
    for later in ("ci", "interrupted"):
        del written[later]
    (tmp_path / SUITE_FILE).write_text(json.dumps(written))
    assert SuiteResult.load(tmp_path / SUITE_FILE) == suite
    del written["target"]
    (tmp_path / SUITE_FILE).write_text(json.dumps(written))
    with pytest.raises(ValueError, match="target: "):
        SuiteResult.load(tmp_path / SUITE_FILE)
