"""kill -9 of the leader at every step of a reassignment: whoever leads next finishes it."""

from __future__ import annotations

from functools import partial

from faults.capabilities import Capability
from harness.plan.base import Said
from harness.plan.conditions import AssignmentIs, IsrIs, LeaderIs
from harness.plan.injects import InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import ReassignProbe
from harness.plan.steps import Heal
from suites.building import LIVELY_MS, answers, cast, closing, compose, must, opening, pace, topic
from suites.replication_v2.story import gone, reached, replication_v2
from suites.story import Story, TargetFacts

STEPS = (
    "noticed",
    "start-replica-sent",
    "caught-up",
    "close-replica-sent",
    "old-out-of-isr",
    "isr-written",
    "replicas-written",
    "self-close-sent",
    "reassigned-deleted",
    "leader-deleted",
)
"""As the leader logs them, in their order (DLD-26)."""
OF_OUTSIDERS = ("self-close-sent",)
"""Only a leader that is not among the new replicas comes there."""


def moved(step: str, outside: bool, story: Story, target: TargetFacts, seed: int) -> Plan:
    """From two replicas to two, of which one is new and leads in the end; the leader stays one of them, or does not.

    What a leader does next it may have done already when the line is seen and the process killed.
    """
    leader, follower, newcomer = cast(story, seed)
    to = (follower, newcomer) if outside else (newcomer, leader)
    steps = [
        *opening(leader),
        ReassignProbe(as_="move", node=leader, partition="t-0", to=to, expect=answers("DLD-18", "served")),
        InjectKill(as_="kill", nodes=leader, when=Said(says=reached(step, "t-0"))),
        LeaderIs(as_="led", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("DLD-10")),
        Heal(as_="restart", fault="kill"),
        AssignmentIs(as_="moved", partition="t-0", is_=to, within_ms=LIVELY_MS, expect=must("DLD-26")),
        IsrIs(as_="in-sync", partition="t-0", is_=to, within_ms=LIVELY_MS, expect=must("LD-76")),
        gone("done", "/brokers/partitions_reassigned/t/0", must("DLD-11")),
        LeaderIs(as_="leads", partition="t-0", is_not=leader if outside else None, within_ms=LIVELY_MS),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower])],
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            StepDone(step="moved"),
            Acknowledged(by="p1", acks="all", after="moved.ended"),
        ],
    )


def _story(step: str, outside: bool) -> Story:
    where = "outside" if outside else "inside"
    return replication_v2(
        f"v2-reassignment-{where}-{step}",
        f"A leader {where} the new replicas is killed at the step {step} of their reassignment",
        partial(moved, step, outside),
        12,
        "LD-54",
        "LD-75",
        "LD-77" if outside else "LD-78",
        "DLD-35",
        "DLD-36",
        needs={Capability.KILL},
    )


STORIES = tuple(
    _story(step, outside) for outside in (False, True) for step in STEPS if outside or step not in OF_OUTSIDERS
)
