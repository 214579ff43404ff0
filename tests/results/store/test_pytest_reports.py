"""JUnit XML of pytest and its plugins: reruns, subtests, teardowns, and the verdicts of tests of fencepost."""

from __future__ import annotations

from pathlib import Path

from tests.results.store.junit_files import AT, FAILURE, case, folder, read, runner, verdicts

__all__ = ["folder"]


def test_a_rerun_of_pytest_is_a_failed_attempt_also_where_attempts_are_apart(folder: Path) -> None:
    body = case("flaky") + case("always") + case("once") + case("flaky") + case("always", inside=FAILURE)
    found = read(folder, f'<testsuites><testsuite name="pytest" tests="3" {AT}>{body}</testsuite></testsuites>')
    assert verdicts(found) == {"t::flaky": "FP", "t::always": "FF", "t::once": "P"}
    assert "does not write why" in found.cases[0].message and runner(found) == "pytest"


def test_a_repeat_that_pytest_counted_itself_is_no_rerun(folder: Path) -> None:
    body = case("kept") * 2
    assert verdicts(read(folder, f'<testsuite name="pytest" tests="2" {AT}>{body}</testsuite>')) == {"t::kept": "PP"}


def test_reruns_of_failed_subtests_are_attempts_each_with_its_reason(folder: Path) -> None:
    last = FAILURE + '<failure message="contains 1 failed subtest"/>'
    body = case("parts", inside=FAILURE) * 2 + case("parts", inside=last)
    found = read(folder, f'<testsuite name="pytest" tests="5" {AT}>{body}</testsuite>')
    assert verdicts(found) == {"t::parts": "FFF"} and {each.message for each in found.cases} == {"no"}


def own(verdict: str, *before: str) -> str:
    """Return the properties of an attempt of a test of fencepost: those of the attempts before stay in front."""
    of_all = "".join(f'<property name="fencepost.verdict" value="{each}"/>' for each in (*before, verdict))
    return f"<properties>{of_all}</properties>"


def test_a_test_of_fencepost_keeps_its_verdict_when_it_is_rerun_in_quarantine_or_skipped(folder: Path) -> None:
    body = (
        case("halted", inside=own("infrastructure"))
        + case("halted", inside=own("pass", "infrastructure"))
        + case("broken", inside=own("violation"))
        + case("broken", inside=own("violation", "violation") + '<failure message="lost"/>')
        + case("quarantined", inside=own("violation") + '<skipped type="pytest.xfail" message="flaky"/>')
        + case("unclear", inside=own("inconclusive") + '<skipped type="fencepost.inconclusive" message="no fault"/>')
        + case("teardown", inside=own("pass") + '<error message="failed on teardown"/>')
        + case("not-here", inside='<skipped type="pytest.skip" message="no disks"/>')
    )
    found = read(folder, f'<testsuites><testsuite name="pytest" tests="9" {AT}>{body}</testsuite></testsuites>')
    read_back = {(each.test.removeprefix("t::"), each.attempt): each.verdict for each in found.cases}
    assert read_back == {
        ("halted", 1): "infrastructure",
        ("halted", 2): "pass",
        ("broken", 1): "violation",
        ("broken", 2): "violation",
        ("quarantined", 1): "violation",
        ("unclear", 1): "inconclusive",
        ("teardown", 1): "violation",
    }
    assert found.skipped == 1


def test_a_failed_test_with_a_failed_teardown_is_one_execution(folder: Path) -> None:
    teardown = '<error message="failed on teardown with &quot;RuntimeError&quot;"/>'
    body = case("both", inside=FAILURE) + case("both", inside=teardown)
    found = read(folder, f'<testsuite name="pytest" tests="2" {AT}>{body}</testsuite>')
    assert verdicts(found) == {"t::both": "F"} and found.cases[0].message == "no"


def test_failed_wins_over_skipped_and_the_subtest_says_why(folder: Path) -> None:
    inside = '<skipped/><failure message="contains 1 failed subtest"/><failure message="cpu wrong"/>'
    found = read(folder, f'<testsuite name="pytest" tests="3" {AT}>{case("parts", inside=inside)}</testsuite>')
    assert verdicts(found) == {"t::parts": "F"} and found.skipped == 0
    assert found.cases[0].message == "cpu wrong"
