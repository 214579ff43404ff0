"""The suites as tests: each scenario that applies to the target, the longest first.

pytest fencepost/suites --fencepost-target apache-kafka:4.4.0 --fencepost-seed 7 -n 3 --dist worksteal
pytest fencepost/suites --fencepost-target quorum -m kip_631 -k cut-from-controllers
"""

from __future__ import annotations

import pytest

from fencepost.harness.catalogue import catalogue
from fencepost.harness.conformance.session import Session
from fencepost.harness.errors import UsageError
from fencepost.suites.scenario import Scenario
from fencepost.suites.scenarios import scenarios_for, suites_for
from fencepost.suites.target_facts import TargetFacts


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    try:
        target = TargetFacts.of(metafunc.config.getoption("--fencepost-target"))
    except UsageError as error:  # pytest shows the message of this one without a traceback
        raise pytest.Collector.CollectError(str(error)) from None
    suite_of = {scenario.slug: name for name, scenarios in suites_for(target).items() for scenario in scenarios}
    for suite in set(suite_of.values()):
        metafunc.config.addinivalue_line("markers", f"{suite}: the scenarios of this suite")
    scenarios = scenarios_for(target)
    metafunc.parametrize("scenario", [_parameter(scenario, suite_of[scenario.slug], target) for scenario in scenarios])


def _parameter(scenario: Scenario, suite: str, target: TargetFacts) -> object:
    requirements = scenario.plan(target, 0).requirements
    marks = (getattr(pytest.mark, suite), pytest.mark.requirement(*requirements))
    return pytest.param(scenario, id=scenario.slug, marks=marks)


def test_scenario(scenario: Scenario, fencepost: Session) -> None:
    """Run the scenario and fail unless it passes; skip it, with the reason, where the target cannot run it."""
    target = TargetFacts.of(fencepost.target)
    plan = scenario.plan(target, fencepost.seed)
    unavailable = scenario.unavailable_reason(target, fencepost.options.backend)
    if unavailable is not None:
        fencepost.skip(scenario.slug, scenario.title, plan.requirements, unavailable)
    fencepost.prove(plan, section=catalogue()[plan.requirements[0]].section)
