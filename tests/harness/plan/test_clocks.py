"""What a plan may do to wall clocks, and whose."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from harness.plan.check import problems
from harness.plan.injects import InjectClockJump, InjectClockSkew
from harness.plan.model import NodeSpec, Plan, Topology
from harness.plan.steps import Step


def plan_of(*steps: Step) -> Plan:
    nodes = (
        NodeSpec(name="node-1", id=1, index=1, roles=("controller",)),
        NodeSpec(name="node-4", id=4, index=4, roles=("broker",), clock="own"),
        NodeSpec(name="node-5", id=5, index=5, roles=("broker",)),
    )
    return Plan(
        story="s", title="S", document="d", seed=1, target="quorum", topology=Topology(nodes=nodes), steps=steps
    )


def test_a_node_with_a_clock_of_its_own_may_be_led_astray() -> None:
    steps = InjectClockJump(as_="jump", nodes="node-4", ms=-1), InjectClockSkew(as_="drift", nodes=("node-4",), ppm=50)
    assert problems(plan_of(*steps)) == []


def test_a_node_with_the_machine_s_clock_is_named() -> None:
    found = problems(plan_of(InjectClockSkew(as_="drift", nodes=("node-4", "node-5"), ppm=50)))
    assert [problem.sentence for problem in found] == [
        "node-5 reads the machine's wall clock; its topology entry needs `clock: own`"
    ]


def test_a_role_is_looked_up_when_its_step_comes() -> None:
    assert problems(plan_of(InjectClockJump(as_="jump", nodes="brokers", ms=1))) == []


@pytest.mark.parametrize("ms", [0, 10**15])
def test_a_jump_that_is_none_or_beyond_every_calendar_is_refused(ms: int) -> None:
    with pytest.raises(ValidationError):
        InjectClockJump(as_="jump", nodes="node-4", ms=ms)


@pytest.mark.parametrize("ppm", [0, 9, -9, -1_000_001])
def test_a_drift_that_cannot_be_measured_or_runs_backwards_is_refused(ppm: int) -> None:
    with pytest.raises(ValidationError):
        InjectClockSkew(as_="drift", nodes="node-4", ppm=ppm)
