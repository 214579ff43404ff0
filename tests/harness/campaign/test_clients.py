"""Random plans have groups and transactions where the target serves them, and claim that these get on."""

import pytest

from fencepost.harness.campaign.planner import generate, left_out
from fencepost.harness.plan.checks.clients import STRATEGIES
from fencepost.harness.plan.conditions.workload_reads import WorkloadReads
from fencepost.harness.plan.model import MembershipSpec, Plan
from fencepost.harness.targets.registry import load_file
from tests.harness.campaign.test_planner import plan_of
from tests.harness.sample_target import VISIBLE

PLANS = 60


def plans(target: str) -> list[Plan]:
    return [plan_of(target, seed) for seed in range(PLANS)]


@pytest.mark.parametrize("target", VISIBLE)
def test_about_half_of_the_plans_have_groups_and_transactions_and_the_others_say_why_not(target: str) -> None:
    reasons = {each.kind: each.reason for each in left_out(load_file(target), "process", load_file(target).version)}
    for kind, having in (
        ("groups", [plan for plan in plans(target) if members(plan)]),
        ("transactions", [plan for plan in plans(target) if plan.transactional_ids]),
    ):
        assert (kind in reasons) == (not having)
        assert kind in reasons or PLANS / 5 < len(having) < PLANS * 0.8


def members(plan: Plan) -> bool:
    """Return whether a group of the plan has members."""
    return any(each.membership for each in plan.workload.consumers)


@pytest.mark.parametrize("target", ["apache-kafka", "quorum"])
def test_a_plan_within_what_is_tolerated_claims_that_its_group_reads_on(target: str) -> None:
    for plan in plans(target):
        claims = {step.as_: step.expect for step in plan.steps if isinstance(step, WorkloadReads)}
        assert ("end-group" in claims) == members(plan)
        whole = next(step for step in plan.steps if step.as_ == "whole")
        if members(plan):
            assert (claims["end-group"] is None) == (getattr(whole, "expect", None) is None)


def test_members_of_some_groups_of_kafka_leave_the_assignment_to_the_coordinator() -> None:
    protocols = [{each.protocol for each in memberships(plan)} for plan in plans("apache-kafka") if members(plan)]
    assert {"classic"} in protocols
    assert {"consumer"} in protocols
    assert {"classic", "consumer"} not in protocols
    for plan in plans("apache-kafka"):
        assert all(each.strategy in STRATEGIES[each.protocol] for each in memberships(plan))
        if any(each.protocol == "consumer" for each in memberships(plan)):
            assert plan.settings is not None
            assert plan.settings.all["group.consumer.session.timeout.ms"] == "6000"


@pytest.mark.parametrize("target", ["quorum", "apache-kafka:3.9.1", "apache-kafka:3.9.1..4.3.1"])
def test_groups_where_the_protocol_is_unknown_speak_the_classic_one(target: str) -> None:
    every = [generate(target, "process", seed) for seed in range(PLANS)]
    assert {each.protocol for plan in every for each in memberships(plan)} == {"classic"}


def memberships(plan: Plan) -> list[MembershipSpec]:
    return [each.membership for each in plan.workload.consumers if each.membership]
