"""Delta debugging finds what a failure needs, and asks no plan twice."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.file import dump_plan, parse_plan
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.reproduction.shrink.ddmin import ddmin, one_by_one
from fencepost.harness.reproduction.shrink.parts import PartKind, named, parts, without
from fencepost.harness.reproduction.shrink.search import ShrinkResult, shrink
from fencepost.harness.reproduction.shrink.side_by_side import TrialsSideBySide
from fencepost.harness.reproduction.shrink.trials import Count, OutOfTime, TrialOutcome, Trials

FOREVER = float("inf")


@given(st.integers(0, 40), st.data())
def test_of_things_that_fail_together_exactly_those_are_left(size: int, data: st.DataObject) -> None:
    needed = data.draw(st.sets(st.integers(0, size - 1))) if size else set()
    assert ddmin(range(size), one_by_one(lambda kept: needed <= set(kept))) == tuple(sorted(needed))


@given(st.integers(1, 24), st.data())
def test_where_one_of_several_is_enough_one_is_left(size: int, data: st.DataObject) -> None:
    enough = data.draw(st.sets(st.integers(0, size - 1), min_size=1))
    left = ddmin(range(size), one_by_one(lambda kept: bool(enough & set(kept))))
    assert len(left) == 1
    assert set(left) <= enough


@given(st.integers(1, 16), st.integers(0, 2**16))
def test_whatever_fails_nothing_of_what_is_left_can_be_left_out(size: int, seed: int) -> None:
    """Also for predicates that know no monotony: some sets fail, some of their supersets do not."""

    def fails(kept: tuple[int, ...]) -> bool:
        return len(kept) == size or hash((seed, kept)) % 3 == 0

    left = ddmin(range(size), one_by_one(fails))
    assert fails(left)
    assert not any(fails(left[:place] + left[place + 1 :]) for place in range(len(left)) if len(left) > 1)


def test_twelve_things_of_which_one_matters_take_few_trials() -> None:
    asked: list[tuple[int, ...]] = []

    def fails(kept: tuple[int, ...]) -> bool:
        asked.append(kept)
        return 7 in kept

    assert ddmin(range(12), one_by_one(fails)) == (7,)
    assert len(asked) <= 10


PLAN = """\
format: fencepost-plan/2
scenario: much
title: Much goes wrong
document: KIP-631
seed: 1
target: quorum
topology:
  nodes:
  - {name: node-1, id: 1, index: 1, roles: [controller]}
  - {name: node-2, id: 2, index: 2, roles: [controller]}
  - {name: node-4, id: 4, index: 4, roles: [broker]}
  - {name: node-5, id: 5, index: 5, roles: [broker]}
  - {name: node-6, id: 6, index: 6, roles: [broker]}
topics:
- {name: t, assignments: [[4, 5, 6], [5, 6, 4], [6, 4, 5]]}
- {name: u, assignments: [[6, 4]]}
workload:
  producers: [{name: p1, topic: t}, {name: p2, topic: u}]
  consumers: [{name: c1, topic: t}]
steps:
- {do: workload, action: start}
- {do: bind, as: old, node: leader:t-0}
- {do: inject, as: cut, fault: cut, from: $old, to: controllers}
- {do: hold, after: cut.proven, ms: 1700}
- {do: await, condition: leader, partition: t-0, is_not: $old, within_ms: 5000}
- {do: inject, as: kill, fault: kill, nodes: [node-5, node-6]}
- {do: await, condition: workload-acks, more: 20, within_ms: 9000}
- {do: heal, fault: kill}
- {do: heal, fault: cut}
- {do: inject, as: nap, fault: pause, nodes: leader:u-0}
- {do: heal, fault: nap}
- {do: await, condition: converged, within_ms: 9000}
coverage:
- {that: acknowledged, after: cut.proven}
- {that: proven, fault: kill}
"""


@pytest.fixture
def plan() -> Plan:
    return parse_plan(PLAN, "plan.yaml")


def shrunk(plan: Plan, fails: Callable[[Plan], bool], **settings: Any) -> ShrinkResult:
    usual: dict[str, Any] = {"times": 1, "rate": 1.0, "deadline": FOREVER}
    found = shrink(
        plan, Trials(lambda tried: TrialOutcome.FAILED if fails(tried) else TrialOutcome.OTHER, **(usual | settings))
    )
    assert found is not None
    return found


NEEDED = st.sets(st.sampled_from(["cut", "kill", "nap", "node-6", "p2"]), max_size=3)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(NEEDED, st.integers(2, 4), st.integers(1, 3))
def test_trials_side_by_side_find_the_plan_that_trials_one_by_one_find(
    plan: Plan, needed: set[str], slots: int, times: int
) -> None:
    def run(tried: Plan) -> TrialOutcome:
        names = {*faults(tried), *(node.name for node in tried.topology.nodes)}
        names |= {spec.name for spec in tried.workload.producers}
        return TrialOutcome.FAILED if needed <= names else TrialOutcome.OTHER

    alone = shrink(plan, Trials(run, times, 1.0, FOREVER))
    with TrialsSideBySide(run, times, 1.0, FOREVER, slots=slots) as trials:
        together = shrink(plan, trials)
    assert alone is not None and together is not None
    assert (together.plan, together.complete) == (alone.plan, True)


def test_the_next_plans_and_the_next_runs_of_a_plan_are_tried_at_once(plan: Plan) -> None:
    """The first two runs of each plan wait for one another: trials one by one would never end."""
    others = [plan.model_copy(update={"seed": seed}) for seed in (2, 3)]
    together, runs = threading.Barrier(2, timeout=30), itertools.count()

    def run(tried: Plan) -> TrialOutcome:
        if next(runs) < 4:
            together.wait()
        return TrialOutcome.FAILED if tried.seed == 3 else TrialOutcome.OTHER

    with TrialsSideBySide(run, 3, 1.0, FOREVER, slots=2) as trials:
        assert trials.first(others[:1], lambda place: None) is None
        assert trials.first(others, lambda place: None) == 1
    assert trials.of(others[1]) == Count(3, 3)


def test_the_first_plan_that_fails_is_taken_though_a_later_one_failed_before(plan: Plan) -> None:
    others = [plan.model_copy(update={"seed": seed}) for seed in (2, 3)]
    later = threading.Event()

    def run(tried: Plan) -> TrialOutcome:
        if tried.seed == 3:
            later.set()
        elif not later.wait(30):
            return TrialOutcome.OTHER
        return TrialOutcome.FAILED

    with TrialsSideBySide(run, 1, 1.0, FOREVER, slots=2) as trials:
        assert trials.first(others, lambda place: None) == 0
        assert trials.of(others[1]) == Count(1, 1)


def faults(plan: Plan) -> list[str]:
    return [step.as_ for step in plan.steps if isinstance(step, InjectStep)]


def test_the_one_fault_that_matters_is_left_in_a_plan_that_can_be_run(plan: Plan) -> None:
    found = shrunk(plan, lambda tried: "kill" in faults(tried) and bool(tried.workload.producers))
    assert faults(found.plan) == ["kill"]
    assert [spec.name for spec in found.plan.workload.producers] == ["p1"] or len(found.plan.topics) == 1
    assert found.complete
    assert parse_plan(dump_plan(found.plan), "small.yaml") == found.plan
    assert "2 of 3 faults: cut, nap" in found.dropped


def test_every_plan_that_is_tried_can_be_run_and_none_is_tried_twice(plan: Plan) -> None:
    tried: list[str] = []

    def fails(candidate: Plan) -> bool:
        assert problems(candidate) == []
        assert parse_plan(dump_plan(candidate), "candidate.yaml") == candidate
        tried.append(dump_plan(candidate))
        return "cut" in faults(candidate) and len(candidate.topology.nodes) >= 3

    found = shrunk(plan, fails)
    assert faults(found.plan) == ["cut"]
    assert len(found.plan.topology.nodes) == 3
    assert len(set(tried)) == len(tried) == found.runs


def test_what_goes_takes_along_what_refers_to_it(plan: Plan) -> None:
    whole = named(plan)
    left = without(whole, [part for part in parts(whole, PartKind.FAULT) if part.name == "cut"])
    assert left is not None
    assert [step.as_ for step in left.steps if step.do != "await"][:3] == ["step-01", "old", "kill"]
    assert [item.that for item in left.coverage] == ["proven"]
    assert not any(getattr(step, "condition", "") == "leader" for step in left.steps), "no step makes it come true"


def test_a_node_goes_with_its_replicas_but_not_the_last_of_its_kind(plan: Plan) -> None:
    whole = named(plan)
    by_name = {part.name: part for part in parts(whole, PartKind.NODE)}
    left = without(whole, [by_name["node-6"]])
    assert left is not None
    assert [topic.assignments for topic in left.topics] == [((4, 5), (5, 4), (4, 5)), ((4,),)]
    assert next(step for step in left.steps if step.as_ == "kill").nodes == ("node-5",)  # type: ignore[union-attr]
    assert without(whole, [by_name["node-1"], by_name["node-2"]]) is None
    assert without(whole, [by_name["node-4"], by_name["node-6"]]) is None, "u-0 would have no replica"


def test_durations_and_partitions_are_made_less(plan: Plan) -> None:
    def fails(tried: Plan) -> bool:
        held = [step.ms for step in tried.steps if isinstance(step, Hold)]
        return bool(held) and held[0] >= 800

    found = shrunk(plan, fails)
    assert [step.ms for step in found.plan.steps if isinstance(step, Hold)] == [850]
    assert all(len(topic.assignments) == 1 for topic in found.plan.topics)
    assert "ms of step-04: 850 instead of 1700" in found.dropped


def test_a_plan_that_does_not_fail_is_not_shrunk(plan: Plan) -> None:
    assert shrink(plan, Trials(lambda tried: TrialOutcome.OTHER, times=3, rate=0.8, deadline=FOREVER)) is None


def test_when_the_time_is_up_the_smallest_so_far_is_given(plan: Plan) -> None:
    clock = iter(range(1000))
    found = shrink(
        plan,
        Trials(
            lambda tried: TrialOutcome.FAILED if "kill" in faults(tried) else TrialOutcome.OTHER,
            times=1,
            rate=1.0,
            deadline=4,
            clock=lambda: next(clock),
        ),
    )
    assert found is not None
    assert not found.complete
    assert found.runs == 4
    assert "kill" in faults(found.plan)


def of(*outcomes: TrialOutcome, **settings: Any) -> Trials:
    left = iter(outcomes)
    usual: dict[str, Any] = {"times": 5, "rate": 0.8, "deadline": FOREVER}
    return Trials(lambda tried: next(left), **(usual | settings))


YES, NO, NOTHING = TrialOutcome.FAILED, TrialOutcome.OTHER, TrialOutcome.NOTHING


def test_a_rate_is_decided_as_soon_as_it_can_be(plan: Plan) -> None:
    believed, given_up = of(YES, YES, NO, YES, YES), of(NO, YES, NO)
    assert believed.needed == 4
    assert believed.fails(plan)
    assert not given_up.fails(plan)
    assert (believed.runs, given_up.runs) == (5, 3)
    assert given_up.fails(plan) is False, "and remembered"


def test_what_was_infrastructure_is_run_once_more(plan: Plan) -> None:
    assert of(NOTHING, YES, times=1).fails(plan)
    assert not of(NOTHING, NOTHING, times=1).fails(plan)


def test_nothing_is_run_once_the_time_is_up(plan: Plan) -> None:
    with pytest.raises(OutOfTime):
        of(deadline=0, clock=lambda: 0).fails(plan)
