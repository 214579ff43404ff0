"""Each planted defect is seen by the test that states the guarantee it breaks."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from fencepost.harness.catalogue import catalogue
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts
from tests.mutants.catalogue import DEFECTS
from tests.mutants.planting import VARIABLE
from tests.mutation.trials import LEAN

ROOT = Path(__file__).parents[2]

SEEN_BY = {name: defect.unit for name, defect in DEFECTS.items() if "::" in defect.unit}
"""The test of each defect that has one; the mutation run looks for those that find the others."""


def run_test(test: str, mutant: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", *LEAN, "-p", "tests.mutants.planting", test]
    environment = {**os.environ, VARIABLE: mutant}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.integration
@pytest.mark.skipif(
    "FENCEPOST_TEST_DEFECTS" not in os.environ,
    reason="it runs pytest for each of some forty defects: set FENCEPOST_TEST_DEFECTS=1",
)
@pytest.mark.parametrize("mutant", SEEN_BY)
def test_a_planted_defect_turns_the_test_of_its_guarantee_red(mutant: str) -> None:
    run = run_test(SEEN_BY[mutant], mutant)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout
    assert "1 failed" in run.stdout


def test_every_mutant_is_listed() -> None:
    modules = {path.stem for path in Path(__file__).parent.glob("[!_]*.py") if not path.name.startswith("test_")}
    assert modules - DEFECTS.keys() == {"catalogue", "defect", "planting", "run"}
    assert all(defect.name == name and defect.text for name, defect in DEFECTS.items())


def test_every_mutant_can_be_planted() -> None:
    """Plant each in a process of its own, since the patches stay: a renamed function breaks its mutant here."""
    broken = []
    for name in DEFECTS:
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                importlib.import_module(f"tests.mutants.{name}").apply()
                os._exit(0)
            os._exit(1)
        if os.waitpid(child, 0)[1] != 0:
            broken.append(name)
    assert broken == []


def test_a_defect_breaks_rules_that_exist() -> None:
    known = {rule.id for rule in catalogue()}
    assert {rule for defect in DEFECTS.values() for rule in defect.rules} <= known


def test_the_scenarios_that_see_a_mutant_apply_to_one_of_its_targets() -> None:
    for defect in DEFECTS.values():
        slugs = {scenario.slug for design in defect.designs for scenario in scenarios_for(TargetFacts.of(design))}
        assert set(defect.scenarios) <= slugs, defect.name
