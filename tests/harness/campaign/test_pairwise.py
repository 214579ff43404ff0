"""A pairwise campaign has each legal pair of operation, fault and role, and says which pairs cannot be."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.faults.capabilities import Capability
from fencepost.harness.campaign.campaign import Order
from fencepost.harness.campaign.features import FaultMove
from fencepost.harness.campaign.pairwise import OPERATIONS, ROUNDS, Pairwise, cover, legal_pairs, pairwise_for
from fencepost.harness.campaign.planner import features_for
from fencepost.harness.campaign.secured import possible_with
from fencepost.harness.plan import dump_plan
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.targets.fitting import check_design
from fencepost.harness.targets.registry import load_file
from tests.harness.sample_target import VISIBLE

FAULTS, ROLES = st.sampled_from("abcdef"), st.sampled_from("uvwx")


@cache
def of(target: str) -> Pairwise:
    file = load_file(target)
    return pairwise_for(file, f"{target}:{file.version}", 1, file.capabilities)


@given(
    st.dictionaries(st.tuples(FAULTS, ROLES), st.integers(0, 2), min_size=1), st.lists(st.sampled_from("0123456789"))
)
def test_rounds_have_all_legal_pairs_and_no_other(legal: dict[tuple[str, str], int], operations: list[str]) -> None:
    rounds = list(cover(legal, sorted(set(operations))))
    wanted = legal_pairs(legal, operations)
    assert {pair for each in rounds for pair in each.pairs} == wanted
    assert all((each.fault, each.role) in legal and len(each.operations) <= OPERATIONS for each in rounds)
    assert len(rounds) <= len(wanted)


def test_rounds_are_few() -> None:
    """Each fault needs a round for each of its roles, or for each three operations: 3 rounds for 9, and not 9."""
    legal = {(fault, role): 0 for fault in "abcdef" for role in "uvw"}
    assert len(list(cover(legal, "123456789"))) <= 20


@pytest.mark.parametrize("target", VISIBLE)
def test_the_plans_of_a_target_have_all_its_pairs(target: str) -> None:
    pairs = of(target)
    assert {pair for plan in pairs.plans for each in plan for pair in each.pairs} == pairs.pairs
    assert all(len(plan) <= ROUNDS for plan in pairs.plans)
    file = load_file(target)
    possible = {
        each.name
        for each in possible_with(features_for(file, f"{target}:{file.version}", file.capabilities), "plaintext")
        if isinstance(each, FaultMove)
    }
    assert {fault for fault, _ in pairs.legal} == possible
    assert all(each.reason for each in pairs.left_out)


@pytest.mark.parametrize("target", VISIBLE)
def test_each_plan_can_be_run_and_has_what_its_rounds_say(target: str) -> None:
    pairs = of(target)
    for number in (1, len(pairs.plans) // 2, len(pairs.plans)):
        plan, rounds = pairs.plan(number, 70 + number), pairs.plans[number - 1]
        assert problems(plan) == []
        check_design(load_file(target), plan)
        injected = [step.fault for step in plan.steps if isinstance(step, InjectStep)]
        assert injected == [each.fault for each in rounds]
        asked = sum(
            isinstance(step, ProbeStep) or step.do == "znode" or bool(getattr(step, "only", ())) for step in plan.steps
        )
        assert asked >= sum(len(each.operations) for each in rounds)


def test_a_fault_hits_the_role_of_its_round() -> None:
    pairs = of("quorum")
    for number in range(1, 6):
        script_of = pairs.plan(number, number)
        for step, each in zip(
            (s for s in script_of.steps if isinstance(s, InjectStep)), pairs.plans[number - 1], strict=True
        ):
            if each.role == "active-controller":
                assert any("active-controller" in ref for ref in step.aims)


def test_a_seed_gives_the_same_plans() -> None:
    file = load_file("quorum")
    first, second = (
        pairwise_for(file, "quorum:1", 3, frozenset({Capability.KILL, Capability.LINKS})) for _ in range(2)
    )
    assert first.rounds == second.rounds
    assert dump_plan(first.plan(1, 9)) == dump_plan(second.plan(1, 9))


def test_a_pairwise_campaign_ends_with_its_plans() -> None:
    order = Order("quorum", "process", 7, 60, 1, pairwise=True)
    assert order.most == len(order.pairs.plans)
    assert Order("quorum", "process", 7, 60, 1, plans=2, pairwise=True).most == 2
    assert order.plan(1).seed == 7_000_001
