"""Situations: faults that hit while something is going on, within what may be away, and healed by their own steps."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.faults.capabilities import Capability
from fencepost.faults.parameters import names_in
from fencepost.faults.processes.kill import KillParameters
from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.campaign import situations
from fencepost.harness.campaign.cluster_spec import ClusterSpec, generate_cluster
from fencepost.harness.campaign.features import found_in
from fencepost.harness.campaign.script import Script
from fencepost.harness.campaign.situations.coordinators import CommitsAlone
from fencepost.harness.campaign.situations.fenced import AskedWhileFenced
from fencepost.harness.campaign.situations.instants import InOneInstant
from fencepost.harness.campaign.situations.minority import AskedInTheMinority
from fencepost.harness.campaign.situations.nested import MissedByTheController
from fencepost.harness.campaign.situations.reassignments import ChangedReassignment
from fencepost.harness.campaign.situations.situation import Situation
from fencepost.harness.plan.base import Level
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.reassign import ReassignProbe
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.describe import Describe
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.targets.registry import load_file
from tests.harness.sample_target import VISIBLE

ALL = [each for each in found_in(situations) if isinstance(each, Situation)]
EVERYTHING = frozenset(Capability)


def script_of(target: str, seed: int, *, tolerated_only: bool = False) -> Script:
    rng = random.Random(seed)
    script = Script(rng, cluster_of(target, rng), tolerated_only)
    script.open()
    return script


def cluster_of(target: str, rng: random.Random) -> ClusterSpec:
    return generate_cluster(rng, load_file(target), EVERYTHING, with_duplicate=False)


def possible(situation: Situation, target: str) -> bool:
    file = load_file(target)
    return situation.left_out_reason(file, file.version, EVERYTHING) is None


any_situation = given(
    situation=st.sampled_from(ALL), target=st.sampled_from(VISIBLE), seed=st.integers(0, 2**40), tolerated=st.booleans()
)


@settings(max_examples=80)
@any_situation
def test_a_situation_heals_what_it_breaks_and_keeps_to_what_may_be_away(
    situation: Situation, target: str, seed: int, tolerated: bool
) -> None:
    script = script_of(target, seed, tolerated_only=tolerated)
    before = len(script.steps)
    if not possible(situation, target) or situation.add(script) is None:
        return
    steps = script.steps[before:]
    broken = [step.as_ for step in steps if isinstance(step, InjectStep)]
    healed = [step.fault for step in steps if isinstance(step, Heal)]
    assert sorted(broken) == sorted(healed) == sorted(script.faults)
    assert script.within or not tolerated
    assert not script.held
    assert not script.undisturbed


def test_a_situation_that_follows_another_one_finds_the_cluster_whole() -> None:
    script = script_of("quorum", 1)
    for _ in range(2):
        InOneInstant().add(script)
    second = next(place for place, step in enumerate(script.steps) if getattr(step, "as_", "") == script.faults[1])
    assert isinstance(script.steps[second - 1], Converged)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("target", ["quorum", "zk-controller", "apache-kafka", "apache-kafka-zk"])
def test_a_broker_returns_before_the_controller_does(target: str, seed: int) -> None:
    script = script_of(target, seed)
    assert MissedByTheController().add(script) is not None
    outer, inner = (step for step in script.steps if isinstance(step, InjectStep) and step.as_ in script.faults[-2:])
    assert set(outer.aims) <= {"active-controller", "controllers"}
    assert len(inner.aims) == 1
    assert [step.fault for step in script.steps if isinstance(step, Heal)][-2:] == [inner.as_, outer.as_]
    if isinstance(inner, KillParameters):
        assert inner.back == "running"
    if script.cluster.broker_is_controller:  # and is another broker
        assert any(isinstance(step, ActiveController) and step.is_not == inner.aims[0] for step in script.steps)


def test_brokers_and_the_controller_stop_by_one_step() -> None:
    aims = set()
    for seed in range(30):
        script = script_of("quorum", seed)
        InOneInstant().add(script)
        step = next(step for step in script.steps if isinstance(step, InjectStep))
        aims.add("active-controller" in step.aims)
        assert len({ref for ref in names_in(step.aims) if ref.startswith("node-")}) == 2
    assert aims == {True, False}


@pytest.mark.requirement("MDL-09")
@pytest.mark.parametrize("target", ["quorum", "zk-controller", "apache-kafka", "apache-kafka-zk"])
def test_a_reassignment_changes_while_its_target_sleeps_and_is_looked_at_each_time(target: str) -> None:
    ends = set()
    for seed in range(40):
        script = script_of(target, seed)
        before = len(script.steps)
        if ChangedReassignment().add(script) is None:
            continue
        steps = script.steps[before:]
        first, *changes = [step for step in steps if isinstance(step, ReassignProbe)]
        [asleep] = [step for step in steps if isinstance(step, InjectStep) and isinstance(step, PauseParameters)]
        looks = [place for place, step in enumerate(steps) if isinstance(step, Describe)]
        healed = next(place for place, step in enumerate(steps) if isinstance(step, Heal) and step.fault == asleep.as_)
        assert first.to is not None
        assert set(asleep.aims) <= set(first.to)
        assert len(looks) == len(changes) + 1
        assert max(looks) < healed
        ends.add(changes[-1].to is None)
    assert ends == {True, False}


def test_a_design_without_controllers_has_none_that_misses_something() -> None:
    file = load_file("leader-driven")
    assert (
        MissedByTheController().left_out_reason(file, "1", EVERYTHING)
        == "it has no controller that could miss something"
    )


@pytest.mark.requirement("K631-32", "K343-18", "DLD-15")
@pytest.mark.parametrize(
    ("target", "rule", "deadline"),
    [
        ("quorum", "K631-32", "lease_ms"),
        ("zk-controller", "K343-18", "fence_ms"),
        ("leader-driven", "DLD-15", "session_ms"),
    ],
)
def test_a_broker_is_asked_beyond_its_deadline_and_must_serve_nothing(target: str, rule: str, deadline: str) -> None:
    steps, script = staged(AskedWhileFenced(), target)
    fault = next(place for place, step in enumerate(steps) if getattr(step, "fault", "") in {"cut", "stall"})
    cut, hold, *requests, heal = steps[fault:]
    assert isinstance(hold, Hold) and isinstance(heal, Heal)
    assert hold.ms > getattr(script.cluster.timing, deadline)
    asked = {(each.node, claim_of(each)) for each in requests}
    assert asked == {(cut.from_, (Level.NEVER, rule, "served"))}


@pytest.mark.requirement("K631-17", "K853-01")
def test_a_controller_in_the_minority_gets_changes_at_once_and_answers_none() -> None:
    steps, _ = staged(AskedInTheMinority(), "quorum")
    place = next(place for place, step in enumerate(steps) if isinstance(step, InjectStep))
    bound, requests = steps[place - 1], steps[place + 1 : place + 3]
    assert isinstance(bound, Bind)
    for each in requests:
        level, rule, outcome = claim_of(each)
        assert (each.node, each.background, level, outcome) == (f"${bound.as_}", True, Level.NEVER, "served")
        assert rule in {"K631-17", "K853-01"}


def test_a_coordinator_commits_without_its_followers_before_it_dies() -> None:
    steps, _ = staged(CommitsAlone(), "quorum")
    place = next(place for place, step in enumerate(steps) if isinstance(step, InjectStep))
    bound, cut, commit, kill = steps[place - 1 : place + 3]
    assert isinstance(bound, Bind) and isinstance(cut, InjectStep) and isinstance(kill, InjectStep)
    assert (cut.fault, kill.fault) == ("isolate", "kill")
    assert isinstance(commit, ApiProbe) and (commit.api, commit.node) == ("offset_commit", f"${bound.as_}")


def staged(situation: Situation, target: str) -> tuple[list[Any], Script]:
    """Return the steps of the situation, of the first script that has a place for it, and the script."""
    for seed in range(100):
        script = script_of(target, seed)
        before = len(script.steps)
        if situation.add(script) is not None:
            return list(script.steps[before:]), script
    raise AssertionError(f"no script has {situation.name}")


def claim_of(step: ApiProbe) -> tuple[Level, str, str]:
    assert isinstance(step, ApiProbe) and step.expect is not None
    return step.expect.level, step.expect.requirement, step.expect.outcome
