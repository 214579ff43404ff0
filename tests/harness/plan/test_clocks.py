"""Plans that set wall clocks wrong, and nodes without a clock of their own."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from fencepost.faults.clock.jump import ClockJumpParameters
from fencepost.faults.clock.skew import ClockSkewParameters
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.plan.steps import Step


def plan_of(*steps: Step) -> Plan:
    nodes = (
        NodeSpec(name="node-1", id=1, index=1, roles=("controller",)),
        NodeSpec(name="node-4", id=4, index=4, roles=("broker",), clock="own"),
        NodeSpec(name="node-5", id=5, index=5, roles=("broker",)),
    )
    return Plan(
        scenario="s", title="S", document="d", seed=1, target="quorum", topology=Topology(nodes=nodes), steps=steps
    )


def test_a_node_with_a_clock_of_its_own_may_be_led_astray() -> None:
    steps = (
        inject("jump", ClockJumpParameters(nodes="node-4", ms=-1)),
        inject("drift", ClockSkewParameters(nodes=("node-4",), ppm=50)),
    )
    assert problems(plan_of(*steps)) == []


def test_a_node_with_the_machine_s_clock_is_named() -> None:
    found = problems(plan_of(inject("drift", ClockSkewParameters(nodes=("node-4", "node-5"), ppm=50))))
    assert [problem.message for problem in found] == [
        "node-5 reads the wall clock of the machine: its topology entry needs `clock: own`"
    ]


def test_a_role_is_looked_up_when_its_step_comes() -> None:
    assert problems(plan_of(inject("jump", ClockJumpParameters(nodes="brokers", ms=1)))) == []


@pytest.mark.parametrize("ms", [0, 10**15])
def test_a_jump_that_is_none_or_beyond_every_calendar_is_refused(ms: int) -> None:
    with pytest.raises(ValidationError):
        inject("jump", ClockJumpParameters(nodes="node-4", ms=ms))


@pytest.mark.parametrize("ppm", [0, 9, -9, -1_000_001])
def test_a_drift_that_cannot_be_measured_or_runs_backwards_is_refused(ppm: int) -> None:
    with pytest.raises(ValidationError):
        inject("drift", ClockSkewParameters(nodes="node-4", ppm=ppm))
