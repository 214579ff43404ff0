"""Random plans for targets that show no control plane: from what the target can, and no more than it promises."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from fencepost.harness.campaign.pairwise import pairwise_for
from fencepost.harness.campaign.planner import capabilities_here, generate_for
from fencepost.harness.engine.run import check_plan
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.promises import BLOWS
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.registry import load_file

FRONT_ENDS = Path(__file__).parents[3] / "docs" / "examples" / "tansu-front-ends.yaml"
TARGETS = ("kfake", "tansu", str(FRONT_ENDS))
SEEDS = 40


@cache
def plans(target: str) -> tuple[Plan, ...]:
    file = load_file(target)
    return tuple(generate_for(file, f"{file.name}:{file.version}", seed, file.capabilities) for seed in range(SEEDS))


def faults(target: str) -> Iterator[str]:
    return (step.fault for plan in plans(target) for step in plan.steps if isinstance(step, InjectStep))


@pytest.mark.parametrize("target", TARGETS)
def test_every_plan_can_be_run_on_the_clusters_of_the_target(target: str) -> None:
    file = load_file(target)
    for plan in plans(target):
        check_plan(plan)
        brokers = [node for node in plan.topology.nodes if "broker" in node.roles]
        assert {node.id for node in brokers} == set(file.brokers.ids)
        assert len(brokers) == file.brokers.count * file.brokers.front_ends
        assert {node.name for node in plan.topology.nodes if "service" in node.roles} == set(file.services)


def test_no_plan_is_harder_than_what_the_records_are_promised_to_outlive() -> None:
    assert {"kill", "terminate"} <= set(faults("kfake"))
    assert not {"kill", "terminate", "crash-loop", "rolling-restart"} & set(faults("tansu"))
    assert "pause" in set(faults("tansu"))
    ends = [step for plan in plans("tansu") for step in plan.steps if isinstance(step, Shutdown)]
    assert ends == []


def test_a_request_that_the_broker_lacks_is_in_no_plan() -> None:
    def grown(target: str) -> bool:
        return any(isinstance(step, CreatePartitionsProbe) for plan in plans(target) for step in plan.steps)

    assert (grown("kfake"), grown("tansu")) == (True, False)


def test_work_is_claimed_to_go_on_only_where_another_one_takes_over() -> None:
    """Under a kill of the leader the work of one process stops, and that of several front ends goes on."""

    def claimed(target: str) -> bool:
        return any((step.as_ or "").startswith("goes-on-") for plan in plans(target) for step in plan.steps)

    assert (claimed("kfake"), claimed(str(FRONT_ENDS))) == (False, True)


@pytest.mark.parametrize("target", TARGETS)
def test_the_plans_of_all_pairs_can_be_run(target: str) -> None:
    file = load_file(target)
    pairs = pairwise_for(file, f"{file.name}:{file.version}", 1, file.capabilities)
    assert frozenset(pair for each in pairs.rounds for pair in each.pairs) >= pairs.pairs
    for number in range(1, len(pairs.plans) + 1):
        check_plan(pairs.plan(number, number))


def test_a_restart_is_refused_where_records_need_not_outlive_it() -> None:
    """A plan of a user is checked as the others are."""
    plan = plans("tansu")[0]
    ends = Shutdown(nodes="node-111")
    with pytest.raises(UsageError, match="ends what tansu does not promise to keep"):
        check_plan(plan.model_copy(update={"steps": (*plan.steps, ends)}))
    assert BLOWS.index(load_file("tansu").promises.survives) < BLOWS.index("stop")


def test_a_cluster_that_runs_elsewhere_has_no_random_plans() -> None:
    keys = {
        "name": "ours",
        "title": "ours",
        "version": "1",
        "dialect": "clients",
        "brokers": {"ids": [1]},
        "running": {"bootstrap": ["127.0.0.1:9092"]},
    }
    with pytest.raises(UsageError, match="ours runs elsewhere, and random plans create and delete topics"):
        capabilities_here(TargetFile.model_validate(keys), "process")
