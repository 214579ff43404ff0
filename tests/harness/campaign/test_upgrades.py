"""Random plans of targets with two releases: rolls keep a release set from which the cluster can always go on."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.features import draw
from fencepost.harness.campaign.operations.upgrades import is_final, releases_after
from fencepost.harness.campaign.planner import features_for, generate_for, left_out
from fencepost.harness.plan import Plan
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.heal_all import HealAll
from fencepost.harness.plan.steps.roll import Roll
from fencepost.harness.targets.registry import load_file

KRAFT, ZOOKEEPER = "apache-kafka:3.9.2..4.4.0", "apache-kafka-zk:2.8.2..3.9.2"
SEEDS = range(60)


def plan_of(target: str, seed: int) -> Plan:
    file = load_file(target)
    return generate_for(file, target, seed, file.capabilities)


@pytest.fixture(scope="module", params=[KRAFT, ZOOKEEPER])
def plans(request: pytest.FixtureRequest) -> list[Plan]:
    return [plan_of(request.param, seed) for seed in SEEDS]


def test_plans_can_be_run_and_end_with_one_release(plans: list[Plan]) -> None:
    endings: Counter[tuple[str, bool]] = Counter()
    for plan in plans:
        assert problems(plan) == []
        load_file(plan.target).check_levels(plan)
        rolled = releases_after(plan.steps)
        nodes = {node.name for node in plan.topology.nodes if "zookeeper" not in node.roles and not node.duplicate_of}
        at_end = {rolled.get(node, "old") for node in nodes}
        assert len(at_end) == 1, plan.title
        endings[(at_end.pop(), is_final(plan.steps))] += 1
    assert {("old", False), ("new", False), ("new", True)} == set(endings)


def test_no_node_goes_back_once_the_upgrade_is_finalized(plans: list[Plan]) -> None:
    gone_back = 0
    for plan in plans:
        final = next((at for at in range(len(plan.steps)) if is_final(plan.steps[: at + 1])), len(plan.steps))
        back = [at for at, step in enumerate(plan.steps) if isinstance(step, Roll) and step.release == "old"]
        gone_back += len(back)
        assert all(at < final for at in back)
    assert gone_back > 2


def test_nodes_are_rolled_beside_faults_of_other_nodes() -> None:
    beside = 0
    for plan in (plan_of(target, seed) for target in (KRAFT, ZOOKEEPER) for seed in range(200)):
        held: dict[str, InjectStep] = {}
        for step in plan.steps:
            match step:
                case InjectStep():
                    held[step.as_] = step
                case Heal():
                    held.pop(step.fault)
                case HealAll():
                    held.clear()
                case Roll():
                    beside += bool(held)
                    assert all(step.node not in fault.aims for fault in held.values())
    assert beside > 0


@pytest.mark.parametrize("target", [KRAFT, ZOOKEEPER])
def test_each_plan_has_the_feature_that_the_target_is_named_for(target: str) -> None:
    file = load_file(target)
    known = features_for(file, target, frozenset(Capability))
    for seed in SEEDS:
        assert "upgrade" in {each.name for each in draw(random.Random(seed), known)}
    assert sum(bool(releases_after(plan_of(target, seed).steps)) for seed in SEEDS) > len(SEEDS) // 2


def test_a_target_of_one_release_says_why_nothing_is_upgraded() -> None:
    reasons = {each.kind: each.reason for each in left_out(load_file("quorum"), "process", "1")}
    assert reasons["upgrade"] == "quorum:1 has one release; a version such as 3.9.2..4.4.0 names two"
