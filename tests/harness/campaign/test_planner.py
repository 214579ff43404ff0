"""Random plans are right, the same for the same seed, and never claim or break more than a design tolerates."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness.campaign
from faults.capabilities import Capability
from faults.registry import FAULTS
from harness.campaign.draws import KINDS
from harness.campaign.draws.links import AMONG_QUORUM, cut, cut_after_bytes, stall
from harness.campaign.draws.processes import kill
from harness.campaign.ground import draw_ground
from harness.campaign.planner import draw_for, left_out, usable
from harness.campaign.script import Script, tolerated
from harness.plan import Plan, dump_plan, load_plan
from harness.plan.check import problems
from harness.plan.conditions import Converged
from harness.plan.injects import (
    InjectDuplicate,
    InjectEmptied,
    InjectFlapping,
    InjectIsolate,
    InjectPause,
    InjectPowerLoss,
    InjectRestored,
    InjectStep,
)
from harness.plan.model import FaultProven
from harness.plan.steps import Heal, HealAll
from harness.targets.target import load_file, names

TARGETS = names()
EVERYTHING = frozenset(Capability)
FRAGILE = (InjectDuplicate, InjectEmptied, InjectRestored, InjectPowerLoss)
LINKS = {kind.name for kind in KINDS if kind.capability is Capability.LINKS}

of_any_target = given(target=st.sampled_from(TARGETS), seed=st.integers(0, 2**40))


def plan_of(target: str, seed: int, possible: frozenset[Capability] = EVERYTHING) -> Plan:
    file = load_file(target)
    return draw_for(file, f"{target}:{file.version}", seed, possible & (file.capabilities | {Capability.NETWORK}))


def capability_of(step: InjectStep) -> Capability:
    capability: Capability = getattr(FAULTS[fault_of(step)], "capability")  # noqa: B009  # made by a class that has one
    return capability


def fault_of(step: InjectStep) -> str:
    return str(getattr(step, "fault"))  # noqa: B009  # each of the union has one


def injects(plan: Plan) -> list[InjectStep]:
    return [step for step in plan.steps if isinstance(step, InjectStep)]


@settings(max_examples=40)
@of_any_target
def test_every_plan_can_be_run_and_read_back(target: str, seed: int) -> None:
    plan, file = plan_of(target, seed), load_file(target)
    assert problems(plan) == []
    file.check_levels(plan)
    file.check_design(plan)
    assert 1 <= len(injects(plan)) <= 10
    assert [node.name for node in plan.topology.nodes if node.duplicate_of] == [
        step.node for step in injects(plan) if isinstance(step, InjectDuplicate)
    ]


@settings(max_examples=12)
@of_any_target
def test_a_seed_gives_the_same_file_byte_for_byte(target: str, seed: int) -> None:
    assert dump_plan(plan_of(target, seed)) == dump_plan(plan_of(target, seed))


def test_other_seeds_give_other_plans() -> None:
    assert len({dump_plan(plan_of("quorum", seed)) for seed in range(20)}) == 20


@settings(max_examples=30)
@given(
    target=st.sampled_from(TARGETS),
    seed=st.integers(0, 2**40),
    lost=st.sets(st.sampled_from([each for each in Capability if each not in (Capability.KILL, Capability.LINKS)])),
)
def test_nothing_is_broken_that_is_not_possible_here(target: str, seed: int, lost: set[Capability]) -> None:
    possible = EVERYTHING - lost
    for step in injects(plan_of(target, seed, possible)):
        assert capability_of(step) in possible


@settings(max_examples=40)
@of_any_target
def test_every_fault_has_to_be_proven_and_is_healed(target: str, seed: int) -> None:
    plan = plan_of(target, seed)
    drawn = [step.as_ for step in injects(plan) if step.as_.startswith("fault-")]
    assert [each.fault for each in plan.coverage if isinstance(each, FaultProven)] == drawn
    assert any(isinstance(step, HealAll) for step in plan.steps)


@settings(max_examples=40)
@of_any_target
def test_that_all_comes_back_is_claimed_only_within_what_may_be_away(target: str, seed: int) -> None:
    """Counted anew from the steps alone: that claim and too many dead or stopped brokers never go together."""
    plan = plan_of(target, seed)
    if not any(step.as_ == "whole" and getattr(step, "expect", None) for step in plan.steps):
        return
    spare = min(
        len(replicas) - int(topic.config["min.insync.replicas"])
        for topic in plan.topics
        for replicas in topic.assignments
    )
    brokers = [node.name for node in plan.topology.nodes if "broker" in node.roles and node.duplicate_of is None]
    held: dict[str, int] = {}
    for step in plan.steps:
        if isinstance(step, InjectStep) and fault_of(step) in ("kill", "pause", "terminate", "emptied", "power-loss"):
            refs = step.aims
            held[step.as_] = sum(3 if ref == "brokers" else ref in brokers or ref[0] in "l$" for ref in refs)
        elif isinstance(step, Heal):
            held.pop(step.fault, None)
        elif isinstance(step, HealAll):
            held.clear()
        assert sum(held.values()) <= spare


@settings(max_examples=40)
@of_any_target
def test_what_may_cost_a_copy_finds_the_cluster_whole(target: str, seed: int) -> None:
    for step in injects(plan_of(target, seed)):
        if isinstance(step, FRAGILE):
            assert isinstance(step.when, Converged)


@settings(max_examples=40)
@of_any_target
def test_no_bytes_are_held_back_while_somebody_is_paused(target: str, seed: int) -> None:
    paused: set[str] = set()
    for step in plan_of(target, seed).steps:
        if isinstance(step, InjectStep):
            fault = fault_of(step)
            cuts = fault == "cut" or (fault in ("isolate", "bridge", "ring") and getattr(step, "how", "") == "cut")
            assert not paused or fault not in LINKS or cuts
            paused |= {step.as_} if isinstance(step, InjectPause) else set()
        elif isinstance(step, Heal):
            paused.discard(step.fault)
        elif isinstance(step, HealAll):
            paused.clear()


def test_a_process_that_makes_room_for_another_fault_is_started_when_the_links_are_whole() -> None:
    file = load_file("quorum")
    ground = draw_ground(random.Random(1), file, file.capabilities, twice=False)
    for seed in range(100):
        rng = random.Random(seed)
        script = Script(rng, ground, calm=False)
        for draw in (kill, stall, stall, cut, stall):
            script.add(draw(rng, ground))
        broken: set[str] = set()
        for step in script.steps:
            if isinstance(step, InjectStep):
                broken |= {step.as_} if fault_of(step) in LINKS else set()
            elif isinstance(step, Heal):
                broken.discard(step.fault)
                assert step.fault != "fault-1" or not broken


@settings(max_examples=40)
@of_any_target
def test_no_group_is_parted_from_itself(target: str, seed: int) -> None:
    parted = [step for step in injects(plan_of(target, seed)) if isinstance(step, InjectIsolate | InjectFlapping)]
    assert all(step.nodes != step.from_ for step in parted)


@pytest.mark.parametrize(("target", "counted"), [("quorum", True), ("zk-controller", False)])
def test_no_link_is_torn_on_which_no_bytes_can_be_counted(target: str, counted: bool) -> None:
    """Servers of a ZooKeeper ensemble answer nobody twice on the ports between them."""
    file = load_file(target)
    ground = draw_ground(random.Random(1), file, file.capabilities, twice=False)
    drawn = [cut_after_bytes(random.Random(seed), ground) for seed in range(200)]
    assert any(each is not None and each.parts == (AMONG_QUORUM,) for each in drawn) is counted


def test_every_fault_that_there_is_is_drawn_or_left_out_with_a_reason() -> None:
    assert {kind.name for kind in KINDS} == set(FAULTS)
    for target in TARGETS:
        file = load_file(target)
        out = {each.kind: each.reason for each in left_out(file, "process")}
        assert all(out.values())
        assert {kind.name for kind in KINDS if usable(kind, file, frozenset()) is None} == set()


@pytest.mark.parametrize("target", TARGETS)
def test_every_kind_of_fault_that_is_possible_comes_up(target: str) -> None:
    file = load_file(target)
    wanted = {kind.name for kind in KINDS if usable(kind, file, file.capabilities) is None}
    seen: set[str] = set()
    for seed in range(600):
        seen |= {fault_of(step) for step in injects(plan_of(target, seed))}
        if wanted <= seen:
            return
    assert wanted <= seen


@pytest.mark.parametrize("target", TARGETS)
def test_most_plans_claim_that_all_comes_back(target: str) -> None:
    plans = [plan_of(target, seed) for seed in range(40)]
    claiming = sum(any(getattr(step, "expect", None) for step in plan.steps) for plan in plans)
    assert claiming >= 20


def test_the_example_that_is_written_by_hand_is_a_plan() -> None:
    plan = load_plan(Path(harness.campaign.__file__).with_name("example.yaml"))
    load_file(plan.target.partition(":")[0]).check_design(plan)
    assert injects(plan)


def test_steps_of_a_plan_have_names_of_their_own() -> None:
    for target in TARGETS:
        plan = plan_of(target, 11)
        named = [plan.step_name(place) for place in range(len(plan.steps))]
        assert all(first != second for first, second in pairwise(sorted(named)))


def test_more_than_may_be_away_is_not_tolerated() -> None:
    file = load_file("quorum")
    ground = draw_ground(random.Random(1), file, file.capabilities, twice=False)
    many = [kill(random.Random(seed), ground) for seed in range(30)]
    assert tolerated(ground, [])
    assert not tolerated(ground, many)
