"""The matrix shows what runs prove, and marks name requirements of the catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.catalogue import catalogue
from fencepost.results.records.requirements import RequirementResult
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict, requirement_states
from fencepost.suites.matrix import ProofState, judged_runs, matrix, named_by_tests

CATALOGUE = catalogue()
NAMED_BY_TESTS = named_by_tests()


def finding(verdict: Verdict, requirement: str, difference: str | None = None) -> Finding:
    return Finding(
        verdict, "check", "title", "message.", requirement=requirement, difference=difference, evidence={"judged": 1}
    )


def proof(verdict: Verdict, *findings: Finding, names: tuple[str, ...] = ("A", "B")) -> RunVerdict:
    states = requirement_states(findings, names)
    results = tuple(RequirementResult(name, state) for name, state in states.items())
    return RunVerdict(verdict, "headline", "scenario", "quorum", "hash", 1.0, 1, 0, findings, results)


def test_a_run_that_passed_proves_what_was_judged_and_not_what_its_plan_only_names() -> None:
    run = proof(Verdict.PASS, finding(Verdict.PASS, "A"))
    assert matrix([run]) == {"quorum": {"A": ProofState.PASSING, "B": ProofState.NEVER}}


def test_a_checker_that_had_nothing_to_judge_proves_nothing() -> None:
    idle = Finding(Verdict.PASS, "check", "title", "message.", requirement="A", evidence={"judged": 0})
    assert matrix([proof(Verdict.PASS, idle, names=())]) == {"quorum": {"A": ProofState.NEVER}}


def test_a_run_that_did_not_pass_proves_only_what_held_in_it() -> None:
    run = proof(Verdict.INCONCLUSIVE, finding(Verdict.PASS, "A"), finding(Verdict.INCONCLUSIVE, "B"))
    assert matrix([run]) == {"quorum": {"A": ProofState.PASSING, "B": ProofState.NEVER}}


def test_one_violation_outweighs_every_pass() -> None:
    held = proof(Verdict.PASS, finding(Verdict.PASS, "A"), finding(Verdict.PASS, "B"))
    runs = [held, proof(Verdict.VIOLATION, finding(Verdict.VIOLATION, "B")), held]
    assert matrix(runs)["quorum"] == {"A": ProofState.PASSING, "B": ProofState.FAILING}


def test_a_listed_difference_is_no_pass_of_the_rule() -> None:
    run = proof(Verdict.PASS, finding(Verdict.PASS, "A", difference="AK-01"), finding(Verdict.PASS, "B"))
    assert matrix([run])["quorum"] == {"A": ProofState.DIFFERS, "B": ProofState.PASSING}


def test_a_run_without_a_verdict_or_with_a_torn_one_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut-short").mkdir()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "verdict.json").write_text('{"format"')
    assert list(judged_runs(tmp_path)) == []
    assert "torn" in capsys.readouterr().err


def test_tests_are_found_by_their_marks(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text('@pytest.mark.requirement("A", "B")\nasync def test_y() -> None: ...\n')
    where = (f"{tmp_path.name}/test_x.py::test_y",)
    assert named_by_tests(tmp_path) == {"A": where, "B": where}


def test_a_mark_of_a_whole_file_counts(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text('pytestmark = [pytest.mark.slow, pytest.mark.requirement("A")]\n')
    assert named_by_tests(tmp_path) == {"A": (f"{tmp_path.name}/test_x.py",)}


def test_marks_name_requirements_of_the_catalogue() -> None:
    for requirement, where in NAMED_BY_TESTS.items():
        CATALOGUE.check([requirement], where[0])
