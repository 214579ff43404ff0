"""The reports of a session, JUnit and Allure, are read back by the import: each test with its verdict.

The session is a real one, with workers of which one is killed. Its tests state verdicts as those of scenarios do; no
cluster is behind them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.results.store.allure import read_allure
from fencepost.results.store.cases import Imported
from fencepost.results.store.junit import read_junit

TESTS = """
import os, signal
import pytest
from fencepost.harness.conformance.outcome import Inconclusive, Infrastructure, Violation

RAISED = {"violation": Violation, "infrastructure": Infrastructure, "inconclusive": Inconclusive}


def ends(request, verdict):
    request.node.user_properties += [("fencepost.scenario", "s"), ("fencepost.verdict", verdict)]
    if verdict in RAISED:
        raise RAISED[verdict]("it was said")


@pytest.mark.parametrize("verdict", ["pass", *RAISED])
def test_ends(request, verdict):
    ends(request, verdict)


@pytest.mark.xfail(reason="quarantined", strict=False)
def test_quarantined(request):
    ends(request, "violation")


def test_unclear(request):
    request.node.user_properties += [("fencepost.scenario", "s"), ("fencepost.verdict", "inconclusive")]
    pytest.skip("inconclusive: no fault was proven")


def test_parts(subtests):
    for number in range(3):
        with subtests.test(number=number):
            assert number != 1


def test_not_here():
    pytest.skip("no disks")


def test_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def test_after_it():
    pass
"""
EXPECTED = {
    "test_ends[pass]": "pass",
    "test_ends[violation]": "violation",
    "test_ends[infrastructure]": "infrastructure",
    "test_ends[inconclusive]": "inconclusive",
    "test_quarantined": "violation",
    "test_unclear": "inconclusive",
    "test_parts": "violation",
    "test_killed": "violation",
    "test_after_it": "pass",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("session")
    (folder / "test_of_own.py").write_text(TESTS)
    outputs = ["--junitxml", "junit.xml", "--alluredir", "allure"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider", *outputs]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return folder


def verdicts(found: Imported) -> dict[str, str]:
    """Return the verdict of each test, of which the reports hold one execution."""
    names = {case.test: case.title for case in found.cases}
    assert len(names) == len(found.cases)
    return {case.title: case.verdict for case in found.cases}


def test_junit_has_each_test_with_its_verdict(session: Path) -> None:
    found = read_junit(session / "junit.xml")
    assert (verdicts(found), found.skipped) == (EXPECTED, 1)


def test_allure_has_all_but_the_test_that_killed_its_worker(session: Path) -> None:
    found = read_allure(session / "allure")
    expected = {test: verdict for test, verdict in EXPECTED.items() if test != "test_killed"}
    assert (verdicts(found), found.skipped) == (expected, 1)
    assert any("a worker that crashed" in lost for each in found.files for lost in each.lost)
