"""Story 12: there is no active controller for longer than a lease."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.injects import InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import MetadataProbe
from harness.plan.steps import Heal, Hold
from suites.building import answers, ask, cast, closing, compose, never_serves, opening, pace, topic
from suites.story import Story, TargetFacts


def build(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Two of three controllers die, so that nothing can be committed and no lease renewed."""
    leader, *followers = cast(story, seed)
    timing = pace(target)
    serves_on = target.unless("AK-05", never_serves("K631-31"), answers("K631-31", "served"))
    after = After(event="lost.proven", plus_ms=timing.lease_ms)
    steps = [
        *opening(leader),
        InjectKill(as_="lost", nodes=("node-1", "node-2")),
        Hold(as_="leases-over", after="lost.proven", ms=timing.lease_ms),
        *ask("leader", leader, serves_on, after=after),
        *(
            MetadataProbe(as_=f"metadata-{follower}", node=follower, topic="t", after=after, expect=serves_on)
            for follower in followers
        ),
        Heal(as_="restart", fault="lost"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, *followers])],
        steps=steps,
        coverage=[
            FaultProven(fault="lost"),
            StepDone(step="leader-produce"),
            StepDone(step=f"metadata-{followers[-1]}"),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


STORIES = (
    Story(
        slug="quorum-lost",
        title="Without a controller quorum every broker fences itself, and all come back with it",
        requirements=("K631-13", "K631-15", "K631-30", "K631-31", "K631-32", "D631-01", "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.KILL}),
        seconds=12,
        build=build,
    ),
)
