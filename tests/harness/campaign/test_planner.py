"""Random plans are right, the same for the same seed, and never claim or break more than a design tolerates."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fencepost.harness.campaign
from fencepost.faults.capabilities import Capability
from fencepost.faults.disks.power_loss import PowerLossParameters
from fencepost.faults.generation import LINKS_AMONG_QUORUM
from fencepost.faults.identity.duplicate import DuplicateParameters
from fencepost.faults.links.cut import LinkCut
from fencepost.faults.links.cut_after_bytes import CutAfterBytes
from fencepost.faults.links.flapping import FlappingParameters
from fencepost.faults.links.isolate import IsolateParameters
from fencepost.faults.links.stall import LinkStall
from fencepost.faults.processes.emptied import EmptiedParameters
from fencepost.faults.processes.kill import Kill
from fencepost.faults.processes.pause import Pause, PauseParameters
from fencepost.faults.processes.restored import RestoredParameters
from fencepost.faults.registry import FAULTS, names_in_family
from fencepost.harness.campaign.cluster_spec import generate_cluster
from fencepost.harness.campaign.features import FaultMove, Feature, FeatureKind, Move, WorkloadFeature, draw
from fencepost.harness.campaign.held_faults import tolerated
from fencepost.harness.campaign.operations.topics import CreateTopic
from fencepost.harness.campaign.planner import Draw, _add, all_features, features_for, generate_for, left_out
from fencepost.harness.campaign.script import Script
from fencepost.harness.campaign.secured import left_out_reason
from fencepost.harness.plan import Plan, dump_plan, load_plan
from fencepost.harness.plan.base import ExpectOutcome, Level
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.conditions.topic_created_through import TopicCreatedThrough
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import FaultProven
from fencepost.harness.plan.rehearsal import problems_to_run
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.security import PlannedSecurity
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.heal_all import HealAll
from fencepost.harness.plan.steps.workload import Workload
from fencepost.harness.targets.fitting import check_design
from fencepost.harness.targets.registry import load_file
from tests.harness.sample_target import VISIBLE

TARGETS = VISIBLE
EVERYTHING = frozenset(Capability)
FRAGILE = (DuplicateParameters, EmptiedParameters, RestoredParameters, PowerLossParameters)
LINKS = names_in_family("links")

of_any_target = given(target=st.sampled_from(TARGETS), seed=st.integers(0, 2**40))


@cache
def plan_of(target: str, seed: int, possible: frozenset[Capability] = EVERYTHING) -> Plan:
    file = load_file(target)
    return generate_for(file, f"{target}:{file.version}", seed, possible & (file.capabilities | {Capability.NETWORK}))


def capability_of(step: InjectStep) -> Capability:
    return FAULTS[step.fault].capability


def injects(plan: Plan) -> list[InjectStep]:
    return [step for step in plan.steps if isinstance(step, InjectStep)]


@pytest.mark.requirement("MDL-13")
@pytest.mark.parametrize(("target", "racks"), [("quorum", {None, "a", "b"}), ("kfake", {None})])
def test_brokers_are_in_racks_in_some_plans_of_targets_that_are_configured(target: str, racks: set[str | None]) -> None:
    rng, file = random.Random(1), load_file(target)
    made = (generate_cluster(rng, file, frozenset(), with_duplicate=False) for _ in range(20))
    assert {node.rack for cluster in made for node in cluster.topology.nodes if node.name in cluster.brokers} == racks


@settings(max_examples=40)
@of_any_target
def test_every_plan_can_be_run_and_read_back(target: str, seed: int) -> None:
    plan, file = plan_of(target, seed), load_file(target)
    assert problems_to_run(plan) == []
    file.check_levels(plan)
    check_design(file, plan)
    assert plan.title
    assert len(injects(plan)) <= 24
    assert [node.name for node in plan.topology.nodes if node.duplicate_of] == [
        step.node for step in injects(plan) if isinstance(step, DuplicateParameters)
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_the_plans_of_300_seeds_pass_the_check(target: str) -> None:
    file = load_file(target)
    for seed in range(300):
        plan = plan_of(target, seed)
        assert problems_to_run(plan) == []
        check_design(file, plan)
        assert plan.title


@settings(max_examples=12)
@of_any_target
def test_a_seed_gives_the_same_file_byte_for_byte(target: str, seed: int) -> None:
    assert dump_plan(plan_of.__wrapped__(target, seed)) == dump_plan(plan_of.__wrapped__(target, seed))


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
    generated = [step.as_ for step in injects(plan) if step.as_.startswith("fault-")]
    assert [each.fault for each in plan.coverage if isinstance(each, FaultProven)] == generated
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
        if isinstance(step, InjectStep) and step.fault in ("kill", "pause", "terminate", "emptied", "power-loss"):
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
def test_no_bytes_are_held_back_while_a_node_is_paused(target: str, seed: int) -> None:
    paused: set[str] = set()
    for step in plan_of(target, seed).steps:
        if isinstance(step, InjectStep):
            fault = step.fault
            cuts = fault == "cut" or (fault in ("isolate", "bridge", "ring") and getattr(step, "how", "") == "cut")
            assert not paused or fault not in LINKS or cuts
            paused |= {step.as_} if isinstance(step, PauseParameters) else set()
        elif isinstance(step, Heal):
            paused.discard(step.fault)
        elif isinstance(step, HealAll):
            paused.clear()


def test_a_process_that_makes_room_for_another_fault_is_started_when_the_links_are_whole() -> None:
    file = load_file("quorum")
    cluster = generate_cluster(random.Random(1), file, file.capabilities, with_duplicate=False)
    for seed in range(100):
        rng = random.Random(seed)
        script = Script(rng, cluster, tolerated_only=False)
        for fault in (Kill, LinkStall, LinkStall, LinkCut, LinkStall):
            script.add(fault.generate(rng, cluster))
        broken: set[str] = set()
        for step in script.steps:
            if isinstance(step, InjectStep):
                broken |= {step.as_} if step.fault in LINKS else set()
            elif isinstance(step, Heal):
                broken.discard(step.fault)
                assert step.fault != "fault-1" or not broken


@settings(max_examples=40)
@of_any_target
def test_no_group_is_parted_from_itself(target: str, seed: int) -> None:
    parted = [
        step for step in injects(plan_of(target, seed)) if isinstance(step, IsolateParameters | FlappingParameters)
    ]
    assert all(step.nodes != step.from_ for step in parted)


@pytest.mark.parametrize(("target", "counted"), [("quorum", True), ("zk-controller", False)])
def test_no_link_is_torn_on_which_no_bytes_can_be_counted(target: str, counted: bool) -> None:
    """Servers of a ZooKeeper ensemble answer no client twice on the ports between them."""
    file = load_file(target)
    cluster = generate_cluster(random.Random(1), file, file.capabilities, with_duplicate=False)
    generated = [CutAfterBytes.generate(random.Random(seed), cluster) for seed in range(200)]
    assert any(each is not None and each.resources == (LINKS_AMONG_QUORUM,) for each in generated) is counted


def test_every_feature_that_there_is_comes_up_or_is_left_out_with_a_reason() -> None:
    assert all(each.weight or each.left_out for each in all_features())
    assert len({each.name for each in all_features()}) == len(all_features())
    for target in TARGETS:
        file = load_file(target)
        assert all(each.reason for each in left_out(file, "process", file.version))
        without = [each for each in all_features() if each.left_out_reason(file, file.version, frozenset()) is None]
        assert not any(isinstance(each, FaultMove) for each in without)


@pytest.mark.parametrize("target", TARGETS)
def test_every_kind_of_fault_that_is_possible_comes_up_in_plans_that_have_it(target: str) -> None:
    file = load_file(target)
    for move in features_for(file, target, file.capabilities):
        if isinstance(move, FaultMove) and move.weight:
            security: PlannedSecurity = "plaintext" if left_out_reason(move, "plaintext") is None else "tls-scram"
            made = partial(generate_for, file, target, possible=file.capabilities, choose=only(move), security=security)
            plans = (made(seed=seed) for seed in range(100))
            assert any(step.fault == move.name for plan in plans for step in injects(plan)), move.name


def only(move: Move) -> Draw:
    return lambda rng, features: tuple(each for each in features if each.name == move.name)


@pytest.mark.parametrize("target", TARGETS)
def test_every_operation_that_is_possible_comes_up(target: str) -> None:
    file = load_file(target)
    wanted = {each for each in features_for(file, target, file.capabilities) if each.kind is FeatureKind.OPERATION}
    seen = set[Feature]()
    for seed in range(300):
        if seen == wanted:
            return
        rng = random.Random(seed)
        cluster = generate_cluster(rng, file, frozenset(), with_duplicate=False)
        for feature in features_for(file, target, file.capabilities):
            if isinstance(feature, WorkloadFeature):  # some operations are about clients
                cluster = replace(cluster, workload=feature.apply(rng, cluster, cluster.workload))
        script = Script(rng, cluster, tolerated_only=False)
        script.open()
        for _ in range(4):
            seen |= {each for each in wanted if isinstance(each, Move) and each.add(script) is not None}
    assert seen == wanted


def test_plans_have_about_half_of_the_features() -> None:
    """The draw itself, not the plans: a plan with few moves cannot show all of its features."""
    file = load_file("quorum")
    features = features_for(file, "quorum:1", EVERYTHING)
    subsets = [draw(random.Random(seed), features) for seed in range(2000)]
    for each in features:
        share = sum(each in features_of_plan for features_of_plan in subsets) / len(subsets)
        assert 0.42 < share < 0.60, each.name  # plans without any fault have fewer; 2,000 draws spread by 0.03
    sizes = [len(each) / len(features) for each in subsets]
    assert sum(size < 0.4 for size in sizes) > 500
    assert sum(size > 0.6 for size in sizes) > 500


def test_a_plan_without_faults_has_operations() -> None:
    plans = [plan_of("quorum", seed) for seed in range(150)]
    quiet = [plan for plan in plans if not any(step.as_.startswith("fault-") for step in injects(plan))]
    assert 0 < len(quiet) < 15
    assert all(any(isinstance(step, ProbeStep) or _of_clients(step) for step in plan.steps) for plan in quiet)


def _of_clients(step: Step) -> bool:
    """Return whether the step starts or stops single clients."""
    return isinstance(step, Workload) and bool(step.only)


@pytest.mark.requirement("LIVE-04")
@of_any_target
def test_an_operation_is_claimed_to_be_served_only_by_a_cluster_that_is_whole(target: str, seed: int) -> None:
    """Counted anew from the steps alone: between a fault and the next await of a whole cluster no answer is claimed.

    An answer that no state of a cluster excuses may be excluded at any time.
    """
    plan, whole = plan_of(target, seed), True
    for step in plan.steps:
        if isinstance(step, InjectStep):
            whole = False
        elif isinstance(step, Converged):
            whole = True
        elif isinstance(step, ProbeStep) and step.expect is not None and step.expect.level is not Level.NEVER:
            assert whole
            assert not step.background or step.expect.requirement == "CRD-08"  # a later request ends its wait


def test_an_operation_before_anything_is_broken_is_claimed_to_be_served() -> None:
    file = load_file("quorum")
    rng = random.Random(1)
    script = Script(rng, generate_cluster(rng, file, frozenset(), with_duplicate=False), tolerated_only=False)
    script.open()
    assert CreateTopic().add(script) is not None
    (probe,) = (step for step in script.steps if isinstance(step, ProbeStep))
    assert probe.expect == ExpectOutcome(level=Level.MUST, requirement="LIVE-04", outcome="served")


@pytest.mark.requirement("LIVE-06")
@settings(max_examples=40)
@of_any_target
def test_a_topic_is_claimed_to_be_created_only_under_one_fault_and_through_a_broker_that_it_spares(
    target: str, seed: int
) -> None:
    held: list[InjectStep] = []
    for step in plan_of(target, seed).steps:
        if isinstance(step, InjectStep):
            held.append(step)
        elif isinstance(step, Heal):
            held = [each for each in held if each.as_ != step.fault]
        elif isinstance(step, HealAll):
            held.clear()
        elif isinstance(step, TopicCreatedThrough):
            assert [step.node in each.aims for each in held] == [False]
            assert step.expect is not None


@pytest.mark.parametrize("target", TARGETS)
def test_some_plans_claim_that_a_topic_can_be_created_while_a_fault_holds_and_leave_no_last_copy(target: str) -> None:
    steps = [pair for seed in range(300) for pair in pairwise(plan_of(target, seed).steps)]
    created = [(step, after) for step, after in steps if isinstance(step, TopicCreatedThrough)]
    assert created
    for step, after in created:
        assert isinstance(after, DeleteTopicProbe)
        assert step.as_ is not None
        assert after.topic == step.topic(step.as_)
        waits_for_the_dead = target.startswith("leader-driven")
        assert step.within_ms >= 30_000 * (2 if waits_for_the_dead else 1)


def test_moves_come_up_as_their_weights_say() -> None:
    """Within one kind, of moves that are always possible."""
    file = load_file("quorum")
    moves = [FaultMove(fault) for fault in (Kill, Pause)]
    counted: Counter[str] = Counter()
    for seed in range(1500):
        rng = random.Random(seed)
        script = Script(rng, generate_cluster(rng, file, frozenset(), with_duplicate=False), tolerated_only=False)
        _add(rng, script, moves)
        counted[next(step.fault for step in script.steps if isinstance(step, InjectStep))] += 1
    assert counted["kill"] / 1500 == pytest.approx(Kill.weight / (Kill.weight + Pause.weight), abs=0.05)


@pytest.mark.parametrize("target", TARGETS)
def test_most_plans_claim_that_all_comes_back(target: str) -> None:
    plans = [plan_of(target, seed) for seed in range(40)]
    claiming = sum(any(getattr(step, "expect", None) for step in plan.steps) for plan in plans)
    assert claiming >= 20


def test_the_example_that_is_written_by_hand_is_a_plan() -> None:
    plan = load_plan(Path(fencepost.harness.campaign.__file__).with_name("example.yaml"))
    check_design(load_file(plan.target.partition(":")[0]), plan)
    assert injects(plan)


def test_steps_of_a_plan_have_names_of_their_own() -> None:
    for target in TARGETS:
        plan = plan_of(target, 11)
        named = [plan.step_name(place) for place in range(len(plan.steps))]
        assert all(first != second for first, second in pairwise(sorted(named)))


def test_more_than_may_be_away_is_not_tolerated() -> None:
    file = load_file("quorum")
    cluster = generate_cluster(random.Random(1), file, file.capabilities, with_duplicate=False)
    many = [Kill.generate(random.Random(seed), cluster) for seed in range(30)]
    assert tolerated(cluster, [])
    assert not tolerated(cluster, many)


def test_a_target_that_extends_another_leaves_out_the_same_faults() -> None:
    original = load_file("apache-kafka-zk")
    fork = original.model_copy(update={"name": "fork", "extends": "apache-kafka-zk"})
    kinds = [each.kind for each in left_out(original, "process", original.version)]
    assert "duplicate" in kinds
    assert [each.kind for each in left_out(fork, "process", fork.version)] == kinds


def test_topics_of_a_later_plan_are_on_brokers_and_not_on_their_duplicates() -> None:
    plans = (plan_of("quorum", seed) for seed in range(100))
    first = next(plan for plan in plans if any(node.duplicate_of for node in plan.topology.nodes))
    file = load_file("quorum")
    for seed in range(20):
        later = generate_for(file, "quorum", seed, file.capabilities, earlier=[first])
        for topic in later.topics:
            assert all(len(set(replicas)) == len(replicas) for replicas in topic.assignments)
