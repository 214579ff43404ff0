"""pytest collects the scenarios that apply to the target, the longest first, and no others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.harness.cli.conformance import QUICK
from fencepost.suites.scenarios import SUITES, scenarios_for
from fencepost.suites.target_facts import TargetFacts

ROOT = Path(__file__).parents[2]


def collected(target: str, *options: str) -> list[str]:
    """Return the slugs of the scenarios that pytest collects, in its order."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "fencepost/suites",
        "--fencepost-target",
        target,
        "--collect-only",
        "-q",
        *(options or QUICK),
    ]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True).stdout
    return [line.partition("[")[2].rstrip("]") for line in output.splitlines() if "::test_scenario[" in line]


@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven"])
def test_the_scenarios_for_a_target_are_collected_the_longest_first(target: str) -> None:
    slugs = collected(target)
    scenarios = {scenario.slug: scenario.seconds for scenario in scenarios_for(TargetFacts.of(target))}
    assert sorted(slugs) == sorted(scenarios)
    assert [scenarios[slug] for slug in slugs] == sorted(scenarios.values(), reverse=True)


@pytest.mark.parametrize("option", ["-m", "-k"])
def test_the_suite_of_one_document_is_selected_by_its_name(option: str) -> None:
    suite = {scenario.slug for scenario in scenarios_for(TargetFacts.of("zk-controller"), SUITES["kip_343"])}
    assert set(collected("zk-controller", option, "kip_343")) == suite


def test_the_suites_need_no_plugin_that_only_development_installs() -> None:
    assert collected("quorum", "-p", "no:asyncio", "-p", "no:hypothesispytest", "-p", "no:pytest_cov")


def test_a_target_that_does_not_exist_is_answered_without_a_traceback() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "fencepost/suites",
        "--fencepost-target",
        "quorm",
        "--collect-only",
        "-q",
    ]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False).stdout
    assert "there is no target 'quorm': did you mean quorum?" in output
    assert "registry.py" not in output
