"""Each row of the catalogue is judged by a scenario or a bug of the gallery, or named by a test, or says why not."""

from __future__ import annotations

import pytest

from fencepost.harness.catalogue import Requirement, catalogue
from fencepost.harness.plan.judged import judged_requirements
from fencepost.suites.matrix import named_by_tests
from fencepost.suites.released_bugs.bugs import BUGS
from fencepost.suites.scenarios import scenarios_for
from tests.suites.test_scenarios import TARGETS

NAMED_BY_SCENARIOS = {
    requirement
    for facts in TARGETS.values()
    for scenario in scenarios_for(facts)
    for requirement in judged_requirements(scenario.plan(facts, 0), facts.dialect)
}
NAMED_BY_BUGS = {bug.rule for bug in BUGS}
NAMED_BY_TESTS = named_by_tests()


@pytest.mark.parametrize("row", list(catalogue()), ids=lambda row: row.id)
def test_a_row_is_named_by_a_scenario_or_a_test_or_says_why_not(row: Requirement) -> None:
    named = row.id in NAMED_BY_SCENARIOS | NAMED_BY_BUGS or row.id in NAMED_BY_TESTS
    assert named or row.untested, f"{row.id} ({row.says}) is named by nothing and does not say why"
    assert not (named and row.untested), f"{row.id} is named by a scenario or a test: its `untested` is out of date"
