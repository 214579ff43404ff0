"""The exit status of a session of scenarios is that of the worst verdict, in one process and in several."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from fencepost.harness.conformance.results import SCENARIO_PROPERTY, VERDICT_PROPERTY, Results
from fencepost.results.records.verdict import Verdict
from tests.harness.conformance.sessions import session

SCENARIOS = """
import pytest
from fencepost.harness.conformance.results import SCENARIO_PROPERTY, VERDICT_PROPERTY

@pytest.mark.parametrize("verdict", ["pass", "inconclusive", "pass"])
def test_scenario(verdict, request):
    request.node.user_properties.append((SCENARIO_PROPERTY, request.node.name))
    request.node.user_properties.append((VERDICT_PROPERTY, verdict))
    assert verdict == "pass"
"""


def report(
    scenario: str | None, outcome: Literal["passed", "failed"], verdict: Verdict | None = None
) -> pytest.TestReport:
    said: list[tuple[str, object]] = [(SCENARIO_PROPERTY, scenario)] if scenario else []
    if verdict is not None:
        said.append((VERDICT_PROPERTY, verdict.value))
    return pytest.TestReport("id", ("", 0, ""), {}, outcome, None, "call", user_properties=said)


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([Verdict.PASS], 0),
        ([Verdict.PASS, Verdict.INCONCLUSIVE], 3),
        ([Verdict.INCONCLUSIVE, Verdict.INFRASTRUCTURE], 2),
        ([Verdict.INFRASTRUCTURE, Verdict.VIOLATION, Verdict.INCONCLUSIVE], 1),
    ],
)
def test_the_worst_verdict_is_the_exit_status(verdicts: list[Verdict], status: int) -> None:
    results = Results()
    for number, verdict in enumerate(verdicts):
        results.add(report(f"s{number}", "passed" if verdict is Verdict.PASS else "failed", verdict))
    assert (
        results.exit_status(pytest.ExitCode.OK if verdicts == [Verdict.PASS] else pytest.ExitCode.TESTS_FAILED)
        == status
    )


def test_a_scenario_that_fails_without_a_verdict_is_infrastructure() -> None:
    results = Results()
    results.add(report("s", "failed"))
    assert results.exit_status(pytest.ExitCode.TESTS_FAILED) == 2


def test_a_failure_that_is_no_scenario_keeps_the_status_of_pytest() -> None:
    results = Results()
    results.add(report("s", "failed", Verdict.INCONCLUSIVE))
    results.add(report(None, "failed"))
    assert results.exit_status(pytest.ExitCode.TESTS_FAILED) == 1


def test_a_test_that_fails_after_its_scenario_passed_is_no_pass() -> None:
    results = Results()
    results.add(report("s", "failed", Verdict.PASS))
    assert results.exit_status(pytest.ExitCode.TESTS_FAILED) == 1


def test_a_scenario_that_is_reported_again_and_passes_takes_nothing_back() -> None:
    results = Results()
    for verdict, outcome in ((Verdict.INCONCLUSIVE, "failed"), (Verdict.PASS, "passed")):
        results.add(report("s", outcome, verdict))  # type: ignore[arg-type]
    assert results.exit_status(pytest.ExitCode.TESTS_FAILED) == 3


def test_a_session_without_scenarios_keeps_the_status_of_pytest() -> None:
    results = Results()
    results.add(report(None, "failed"))
    assert results.exit_status(pytest.ExitCode.TESTS_FAILED) == 1
    assert Results().exit_status(pytest.ExitCode.NO_TESTS_COLLECTED) == 5


def test_a_run_that_failed_as_its_mark_says_does_not_fail_the_session() -> None:
    results = Results()
    for when in ("call", "teardown"):
        each = report("s", "failed", Verdict.INCONCLUSIVE)
        each.when = when
        if when == "call":
            each.wasxfail = "known"
        results.add(each)
    assert results.exit_status(pytest.ExitCode.OK) == 0
    assert results.runs["id"][VERDICT_PROPERTY] == "inconclusive"


def test_an_interrupted_session_is_never_a_pass() -> None:
    results = Results()
    results.add(report("s", "passed", Verdict.PASS))
    assert results.exit_status(pytest.ExitCode.INTERRUPTED) == 2


def test_verdicts_travel_from_workers_to_the_exit_status(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SCENARIOS)
    assert session(tmp_path, "-n", "2").returncode == 3
