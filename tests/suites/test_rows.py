"""Each row of the catalogue is judged by a scenario or a bug of the gallery, or named by a test, or says why not."""

from __future__ import annotations

import pytest

from fencepost.harness.catalogue import Requirement, catalogue
from fencepost.harness.checkers.owed import judged_requirements
from fencepost.suites.matrix import named_by_tests
from fencepost.suites.released_bugs.bugs import BUGS
from fencepost.suites.scenarios import scenarios_for
from tests.suites.test_scenarios import TARGETS

JUDGED_ON = {
    target: {
        requirement
        for scenario in scenarios_for(facts)
        for requirement in judged_requirements(scenario.plan(facts, 0), facts.dialect)
    }
    for target, facts in TARGETS.items()
}
NAMED_BY_SCENARIOS = frozenset().union(*JUDGED_ON.values())
OF_QUORUM = ("K631", "D631", "DSTO", "DRACK", "DISK", "DIR", "ADM")
"""Prefixes of the rows about KIP-631, and about the data plane and the disks below it."""
ON_OTHER_DESIGNS = frozenset({"DISK-07", "DSTO-01"})
"""Rows about one of several log directories, which no broker of the design quorum has (D631-27)."""
NAMED_BY_BUGS = {bug.rule for bug in BUGS}
NAMED_BY_TESTS = named_by_tests()


@pytest.mark.parametrize("row", list(catalogue()), ids=lambda row: row.id)
def test_a_row_is_named_by_a_scenario_or_a_test_or_says_why_not(row: Requirement) -> None:
    named = row.id in NAMED_BY_SCENARIOS | NAMED_BY_BUGS or row.id in NAMED_BY_TESTS
    assert named or row.untested, f"{row.id} ({row.says}) is named by nothing and does not say why"
    assert not (named and row.untested), f"{row.id} is named by a scenario or a test: its `untested` is out of date"


@pytest.mark.parametrize(
    "row", [row for row in catalogue() if row.id.partition("-")[0] in OF_QUORUM], ids=lambda row: row.id
)
def test_a_row_of_the_design_quorum_is_judged_on_a_cluster_or_says_why_not(row: Requirement) -> None:
    judged = row.id in JUDGED_ON["quorum"]
    assert judged or row.unseen or row.untested or row.id in ON_OTHER_DESIGNS, f"no step on a cluster judges {row.id}"
    assert not (judged and row.unseen), f"{row.id} is judged by a scenario: its `unseen` is out of date"
