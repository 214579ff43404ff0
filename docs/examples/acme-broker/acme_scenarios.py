"""The scenarios of Acme: a function makes the plan, and `SCENARIOS` lists them."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


def paused_follower(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """A follower sleeps until it has left the ISR, wakes, and returns."""
    leader, follower, other = v.replica_roles(scenario, seed)
    steps = [
        *v.setup(leader),
        v.inject("nap", v.PauseParameters(nodes=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower),
        v.Heal(as_="wake", fault="nap"),
        v.IsrIs(as_="back", partition="t-0", has=follower, expect=v.must("ACME-01")),
        *v.teardown(),
    ]
    return v.build_plan(
        scenario,
        target,
        seed,
        topics=[v.topic([leader, follower, other])],
        steps=steps,
        coverage=[v.FaultProven(fault="nap"), v.Acknowledged(by="p1", acks="all", after="wake.ended")],
    )


SCENARIOS = (
    v.Scenario(
        slug="acme-paused-follower",
        title="A follower that slept returns to the ISR",
        requirements=("ACME-01",),
        needs=frozenset({v.Capability.PAUSE}),
        seconds=8,
        build=paused_follower,
        document="Acme handbook",
        dialects=v.ALL_DESIGNS,
    ),
)
