"""The matrix says what runs prove, and the catalogue names nothing that nothing proves."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.records.verdict import Finding, RunVerdict, Verdict
from suites.matrix import Proof, Standing, matrix, named_by_tests, proofs
from suites.requirements import load

CATALOGUE = load()
NAMED_BY_TESTS = named_by_tests()


def finding(verdict: Verdict, requirement: str, difference: str | None = None) -> Finding:
    return Finding(verdict, "check", "title", "sentence.", requirement=requirement, difference=difference)


def proof(verdict: Verdict, *findings: Finding, names: tuple[str, ...] = ("A", "B")) -> Proof:
    return Proof(names, RunVerdict(verdict, "headline", "story", "quorum", "hash", 1.0, 1, 0, findings))


def test_a_run_that_passed_proves_what_its_plan_names() -> None:
    assert matrix([proof(Verdict.PASS)]) == {"quorum": {"A": Standing.PASSING, "B": Standing.PASSING}}


def test_a_run_that_did_not_pass_proves_only_what_was_found_in_it() -> None:
    run = proof(Verdict.INCONCLUSIVE, finding(Verdict.PASS, "A"), finding(Verdict.INCONCLUSIVE, "B"))
    assert matrix([run]) == {"quorum": {"A": Standing.PASSING}}


def test_one_violation_outweighs_every_pass() -> None:
    runs = [proof(Verdict.PASS), proof(Verdict.VIOLATION, finding(Verdict.VIOLATION, "B")), proof(Verdict.PASS)]
    assert matrix(runs)["quorum"] == {"A": Standing.PASSING, "B": Standing.FAILING}


def test_a_listed_difference_is_no_pass_of_the_rule() -> None:
    run = proof(Verdict.PASS, finding(Verdict.PASS, "A", difference="AK-01"))
    assert matrix([run])["quorum"] == {"A": Standing.DIFFERS, "B": Standing.PASSING}


def test_a_run_without_a_verdict_or_with_a_torn_one_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut-short").mkdir()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "verdict.json").write_text('{"format"')
    assert list(proofs(tmp_path)) == []
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
