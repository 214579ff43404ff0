"""Random plans look at everything again after what state has to outlive, and requests have several parts."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from fencepost.harness.campaign.cluster_spec import MIN_ISR, generate_cluster
from fencepost.harness.campaign.operations.configurations import (
    ABSENT,
    AddAssignedPartitions,
    ChangeSeveralSettings,
    CreateSeveralTopics,
    ReplaceSettings,
)
from fencepost.harness.campaign.operations.mistakes import MistakenTopic
from fencepost.harness.campaign.operations.operation import Operation
from fencepost.harness.campaign.operations.topics import RecreateTopic
from fencepost.harness.campaign.planner import generate
from fencepost.harness.campaign.script import Script
from fencepost.harness.campaign.second_time import interrupt
from fencepost.harness.campaign.settling import settling
from fencepost.harness.plan.conditions.administrator_served import AdministratorServed
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.steps.describe import Describe
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.plan.steps.start import Start
from fencepost.harness.targets.registry import load_file

TARGETS = ("apache-kafka", "quorum", "zk-controller", "leader-driven")


def script(target: str, seed: int) -> Script:
    rng = random.Random(seed)
    made = Script(rng, generate_cluster(rng, load_file(target), frozenset(), with_duplicate=False), False)
    made.open()
    return made


@pytest.mark.parametrize("target", TARGETS)
def test_what_ends_starts_again_after_a_look_at_the_whole_cluster(target: str) -> None:
    ended_together = set()
    for seed in range(20):
        made = script(target, seed)
        steps = list(settling(made.rng, made))
        assert [type(step) for step in steps[:2]] == [Converged, Describe]
        ended = [step.nodes for step in steps if isinstance(step, Shutdown)]
        started = [step.nodes for step in steps if isinstance(step, Start)]
        assert sorted(map(str, ended)) == sorted(map(str, started))
        ended_together |= {nodes for nodes in ended if not isinstance(nodes, str)}
    assert {made.cluster.brokers for made in [script(target, seed) for seed in range(20)]} & ended_together


def is_settling(step: object) -> bool:
    return isinstance(step, Describe) and step.as_.startswith("healed")


def test_most_plans_that_claim_that_all_comes_back_settle_and_those_that_break_more_never() -> None:
    plans = [generate("quorum", "process", seed) for seed in range(40)]
    claims = {
        plan.seed: any(isinstance(step, AdministratorServed) and step.expect is not None for step in plan.steps)
        for plan in plans
    }
    settled = {plan.seed for plan in plans if any(is_settling(step) for step in plan.steps)}
    assert settled <= {seed for seed, claimed in claims.items() if claimed}
    assert len(settled) > sum(claims.values()) / 3


def bodies(operation: Operation, target: str, requests: int = 60) -> list[ApiProbe]:
    found: list[ApiProbe] = []
    for seed in range(requests):
        made = script(target, seed)
        before = len(made.steps)
        operation.add(made)
        found += [step for step in made.steps[before:] if isinstance(step, ApiProbe)]
    return found


@pytest.mark.parametrize("target", TARGETS[:2])
def test_settings_are_set_unset_validated_repeated_and_refused(target: str) -> None:
    requests = bodies(ChangeSeveralSettings(), target)
    changes = [change for each in requests for part in each.body["resources"] for change in part["configs"]]
    assert {change["config_operation"] for change in changes} == {0, 1}
    assert all((change["value"] is None) is (change["config_operation"] == 1) for change in changes)
    assert {each.body["validate_only"] for each in requests} == {True, False}
    assert any(one.body == other.body for one, other in pairwise(requests))
    assert any(part["resource_name"] == ABSENT for each in requests for part in each.body["resources"])


def test_a_replacement_keeps_what_the_plan_counts_with() -> None:
    for request in bodies(ReplaceSettings(), "quorum"):
        [resource] = request.body["resources"]
        assert MIN_ISR in {change["name"] for change in resource["configs"]}


def test_several_topics_are_created_beside_one_that_is_there_and_each_part_is_claimed() -> None:
    requests = bodies(CreateSeveralTopics(), "quorum")
    assert any(len(request.body["topics"]) == 3 for request in requests)
    for request in requests:
        names = [topic["name"] for topic in request.body["topics"]]
        assert [path.count(name) for path, name in zip(sorted(request.answer), sorted(names), strict=True)]
        assert {code for path, code in request.answer.items() if "many-" in path} == {0}
        assert {code for path, code in request.answer.items() if "many-" not in path} <= {36}


def test_partitions_are_added_on_as_many_brokers_as_the_others_have() -> None:
    for request in bodies(AddAssignedPartitions(), "quorum"):
        [topic] = request.body["topics"]
        assert all(len(set(each["broker_ids"])) == len(each["broker_ids"]) for each in topic["assignments"])


def test_something_happens_between_a_deletion_and_what_is_made_anew_and_never_between_mistakes() -> None:
    ends = set()
    for seed in range(40):
        made = script("quorum", seed)
        RecreateTopic().prepare(made)
        begin = len(made.steps)
        RecreateTopic().add(made)
        interrupt(made, begin)
        types = [type(step) for step in made.steps[begin:]]
        between = made.steps[begin:][types.index(DeleteTopicProbe) + 1 : types.index(CreateTopicProbe)]
        assert isinstance(between[-1], Converged)
        ended = [step.nodes for step in between if isinstance(step, Shutdown)]
        assert ended == [step.nodes for step in between if isinstance(step, Start)][::-1]
        ends.add(len(ended))

        begin = len(made.steps)
        MistakenTopic().add(made)
        as_it_was = list(made.steps)
        interrupt(made, begin)
        assert made.steps == as_it_was
    assert ends == {1, 2}
