"""The summary and the annotations of a suite for a CI system."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.harness.report.ci_summary import github_annotations, markdown
from fencepost.harness.report.suite_history import PastRun, past_runs, since
from fencepost.harness.report.suite_results import FoundProblem, ScenarioResult, SuiteResult
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.survey import SUITE_FILE
from fencepost.results.records.verdict import RunVerdict, Verdict

DAY = 86_400.0
RULE = RequirementResult(
    "K631-32", RequirementState.BROKEN, "A fenced broker processes no client request.", "KIP-631", "Fencing"
)
HEADLINE = "2 of 2 answers to `alone_metadata` were `served`, which must never be."
FAILED = ScenarioResult(
    scenario="alone",
    title="A broker that is alone | serves nothing",
    requirements=("K631-32",),
    verdict=Verdict.VIOLATION,
    seconds=12.0,
    headline=HEADLINE,
    run="runs/2026-11-23-7f3c9a21",
    rules=(RULE, RequirementResult("ACK-01", RequirementState.HELD)),
    problems=(
        FoundProblem(Verdict.VIOLATION, "expectations", HEADLINE, "K631-32", "never"),
        FoundProblem(Verdict.VIOLATION, "lost-write", "4 records are gone.", "ACK-01"),
        FoundProblem(Verdict.INCONCLUSIVE, "coverage", "not seen"),
    ),
)
PASSED = ScenarioResult("restart", "A restart", ("K631-39",), Verdict.PASS, None, 3.0)
SKIPPED = ScenarioResult("off", "Off", (), None, "only a container has a network")


def _suite(*scenarios: ScenarioResult) -> SuiteResult:
    return SuiteResult("acme", "2.1", "process", 7, 10 * DAY, 65.0, scenarios)


def _past(day: float, verdict: Verdict, version: str = "2.1", **other: str) -> PastRun:
    return PastRun(
        **{"scenario": "alone", "target": "acme", "backend": "process", **other},
        target_version=version,
        started=day * DAY,
        verdict=verdict,
        run=f"run-{day}",
    )


def test_a_failure_says_its_rule_since_when_and_how_to_repeat_it() -> None:
    shown = markdown(_suite(PASSED, FAILED, SKIPPED), [_past(8, Verdict.PASS, "2.0"), _past(9, Verdict.VIOLATION)])
    assert shown.splitlines() == [
        "## ❌ fencepost: violation on acme 2.1, process, seed 7",
        "",
        "1 pass · 1 violation · 1 skipped · 1.1 min",
        "",
        "<details><summary>1 skipped</summary>",
        "",
        "- only a container has a network: `off`",
        "",
        "</details>",
        "",
        "Slowest: `alone` 12.0 s, `restart` 3.0 s",
        "",
        "### ❌ violation: `alone`",
        "",
        r"A broker that is alone \| serves nothing",
        "",
        "> 2 of 2 answers to `alone_metadata` were `served`, which must never be.",
        "",
        "- **K631-32**: A fenced broker processes no client request. (KIP-631, Fencing)",
        "- ACK-01: 4 records are gone.",
        "- since: 1970-01-10 00:00 UTC, version 2.1, violation, in 2 runs; it passed last at "
        "1970-01-09 00:00 UTC, version 2.0, pass",
        "- replay: `fencepost replay runs/2026-11-23-7f3c9a21`",
    ]


def test_a_suite_with_a_planted_defect_says_so_and_is_no_history(tmp_path: Path) -> None:
    planted = replace(PASSED, planted_defect="no_self_fence", run="runs/a")
    assert "**1 with the planted defect `no_self_fence`**: no verdict about a real build." in markdown(_suite(planted))
    folder = RunFolder.create_at(tmp_path / "b")
    Manifest("b", "alone", "acme", "2.1", "process", 7, "0", 5 * DAY).save(folder.manifest)
    RunVerdict(Verdict.PASS, "h", "alone", "acme", "0", 4.0, 9, 0, (), (), "no_self_fence").save(folder.verdict)
    _suite(planted, replace(planted, planted_defect="", run="runs/c")).save(tmp_path / "suite-1" / SUITE_FILE)
    assert [each.run for each in past_runs(tmp_path)] == ["c"]


def test_a_suite_that_passed_is_short() -> None:
    assert "###" not in markdown(_suite(PASSED))
    assert markdown(_suite(PASSED)).startswith("## ✅ fencepost: pass on acme 2.1")


def test_a_suite_in_which_nothing_was_judged_says_so() -> None:
    assert "No scenario was judged, so nothing is shown." in markdown(_suite(SKIPPED))


def test_each_failure_is_one_annotation_on_one_line() -> None:
    (line,) = github_annotations(_suite(PASSED, FAILED, SKIPPED))
    command, _, message = line.removeprefix("::").partition("::")
    assert command == "error title=violation%3A alone (K631-32)"
    assert message.split("%0A") == [
        HEADLINE,
        "K631-32: A fenced broker processes no client request. (KIP-631, Fencing)",
        "replay: fencepost replay runs/2026-11-23-7f3c9a21",
    ]


@pytest.mark.parametrize(
    ("past", "said"),
    [
        ([], "unknown, no earlier run on acme is known here"),
        ([_past(9, Verdict.VIOLATION, target="other"), _past(9, Verdict.PASS, backend="docker")], "unknown, no"),
        ([_past(11, Verdict.PASS)], "unknown, no"),
        (
            [_past(9, Verdict.PASS, commit="0123456789abcdef")],
            "new, it passed in the run before (1970-01-10 00:00 UTC, version 2.1, commit 0123456789ab, pass)",
        ),
        ([_past(8, Verdict.VIOLATION), _past(9, Verdict.PASS)], "new, it passed in the run before (1970-01-10 00:00"),
        ([_past(9, Verdict.INCONCLUSIVE)], "unknown, no earlier run"),
        ([_past(9, Verdict.VIOLATION)], "at least 1970-01-10 00:00 UTC, version 2.1, violation, in 2 runs; no run"),
        (
            [_past(7, Verdict.PASS), _past(8, Verdict.VIOLATION), _past(9, Verdict.INFRASTRUCTURE)],
            "1970-01-09 00:00 UTC, version 2.1, violation, in 2 runs; it passed last at 1970-01-08 00:00 UTC",
        ),
    ],
)
def test_only_earlier_runs_of_the_same_scenario_here_count(past: list[PastRun], said: str) -> None:
    assert since(FAILED, _suite(FAILED), past).startswith(said)


def test_a_headline_with_a_prefix_is_not_repeated() -> None:
    planted = replace(FAILED, headline=f"With the planted defect no_self_fence: {HEADLINE}")
    assert markdown(_suite(planted)).count("answers to `alone_metadata`") == 1


def test_run_folders_and_results_of_earlier_suites_are_the_history(tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "2026-11-23-00000001")
    Manifest(folder.name, "alone", "acme", "2.1", "process", 7, "0", 5 * DAY).save(folder.manifest)
    RunVerdict(Verdict.PASS, "h", "alone", "acme:2.1", "0", 4.0, 9, 0, ()).save(folder.verdict)
    unjudged = RunFolder.create_at(tmp_path / "2026-11-23-00000002")
    Manifest(unjudged.name, "alone", "acme", "2.1", "process", 7, "0", 6 * DAY).save(unjudged.manifest)
    _suite(FAILED, SKIPPED).save(tmp_path / "suite-1" / SUITE_FILE)
    assert [(each.run, each.verdict) for each in past_runs(tmp_path)] == [
        ("2026-11-23-00000001", Verdict.PASS),
        ("2026-11-23-7f3c9a21", Verdict.VIOLATION),
    ]
