"""The cluster has no active controller for longer than a lease."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


def build(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """Two of three controllers die, so that nothing can be committed and no lease renewed."""
    leader, *followers = v.replica_roles(scenario, seed)
    timing = v.scaled_timing(target)
    serves_on = target.unless("AK-05", v.never_serves("K631-31", "K631-30", "K631-32"), v.answers("K631-31", "served"))
    after = v.After(event="lost.proven", plus_ms=timing.lease_ms)
    steps = [
        *v.setup(leader),
        v.inject("lost", v.KillParameters(nodes=("node-1", "node-2"))),
        v.Hold(as_="leases-over", after="lost.proven", ms=timing.lease_ms),
        *v.service_probes("leader", leader, serves_on, after=after),
        *(
            v.MetadataProbe(as_=f"metadata-{follower}", node=follower, topic="t", after=after, expect=serves_on)
            for follower in followers
        ),
        v.Heal(as_="restart", fault="lost"),
        *v.teardown(),
    ]
    return v.build_plan(
        scenario,
        target,
        seed,
        timing=timing,
        topics=[v.topic([leader, *followers])],
        steps=steps,
        coverage=[
            v.FaultProven(fault="lost"),
            v.StepDone(step="leader-produce"),
            v.StepDone(step=f"metadata-{followers[-1]}"),
            v.Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


SCENARIOS = (
    v.Scenario(
        slug="quorum-lost",
        title="Without a controller quorum every broker fences itself, and returns with the quorum",
        requirements=("K631-30", "K631-31", "K631-32", "LIVE-01", "LIVE-03"),
        needs=frozenset({v.Capability.KILL}),
        seconds=12,
        build=build,
    ),
)
