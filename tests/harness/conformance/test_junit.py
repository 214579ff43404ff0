"""JUnit XML says by verdict if the target failed, or if nothing is known of it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.harness.conformance.sessions import session

SESSION = """
import pytest
from fencepost.harness.conformance.options import SessionOptions
from fencepost.harness.conformance.outcome import raise_unless_passed
from fencepost.harness.conformance.results import SCENARIO_PROPERTY, VERDICT_PROPERTY
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict

@pytest.mark.parametrize("verdict", list(Verdict))
def test_scenario(verdict, request, tmp_path):
    found = Finding(verdict, "lost-write", "Lost", "220 records are lost.", requirement="ACK-01", level="never")
    ended = RunVerdict(verdict, "the headline", "s", "quorum", "7f3c9a21", 1.0, 10, 0, (found,))
    request.node.user_properties += [(SCENARIO_PROPERTY, verdict.value), (VERDICT_PROPERTY, verdict.value)]
    raise_unless_passed(ended, RunFolder(tmp_path), SessionOptions.of(request.config).inconclusive)

def test_of_something_else():
    assert False

def test_without_a_verdict(request):
    request.node.user_properties.append((SCENARIO_PROPERTY, "s"))
    raise OSError("the disk is full")
"""


def restated(where: Path, *arguments: str) -> tuple[ElementTree.Element, str]:
    """The test suite element of the session, and what it printed."""
    (where / "test_it.py").write_text(SESSION)
    done = session(where, "--junitxml", "junit.xml", *arguments)
    [suite] = ElementTree.parse(where / "junit.xml").getroot()
    return suite, done.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_only_a_violation_is_a_failure(tmp_path: Path, workers: tuple[str, ...]) -> None:
    suite, printed = restated(tmp_path, *workers)
    said = {
        (case.get("name"), element.tag): element
        for case in suite.iter("testcase")
        for element in case
        if element.tag != "properties"
    }
    assert sorted(said) == [
        ("test_of_something_else", "failure"),
        ("test_scenario[inconclusive]", "error"),
        ("test_scenario[infrastructure]", "error"),
        ("test_scenario[violation]", "failure"),
        ("test_without_a_verdict", "error"),
    ]
    violation = said["test_scenario[violation]", "failure"]
    assert violation.get("type") == "fencepost.violation"
    assert (violation.get("message") or "").startswith("the headline")
    assert (violation.text or "").splitlines()[0] == "the headline", "a frame stands before the message"
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "6", "failures": "2", "errors": "3", "skipped": "0"}
    assert "outcome.py" not in printed
    assert "3 failed, 1 passed, 2 errors" in printed


def test_an_inconclusive_run_may_be_skipped_and_is_named_all_the_same(tmp_path: Path) -> None:
    suite, printed = restated(tmp_path, "--fencepost-inconclusive", "skip", "-k", "inconclusive or pass")
    [skipped] = suite.iter("skipped")
    assert skipped.get("type") == "fencepost.inconclusive"
    assert (skipped.get("message") or "").startswith("inconclusive: the headline")
    assert (suite.get("errors"), suite.get("failures"), suite.get("skipped")) == ("0", "0", "1")
    assert "inconclusive   test_it.py::test_scenario[inconclusive]" in printed
