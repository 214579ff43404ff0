"""The scenarios of Acme: a function makes the plan, and `SCENARIOS` lists them."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


def paused_follower(draft: v.Draft) -> v.Plan:
    """A follower sleeps until it has left the ISR, wakes, and returns."""
    leader, follower, _ = draft.roles
    steps = [
        *v.setup(leader),
        v.inject("nap", v.PauseParameters(nodes=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower),
        v.Heal(as_="wake", fault="nap"),
        v.IsrIs(as_="back", partition="t-0", has=follower, expect=v.must("ACME-01")),
        *v.teardown(),
    ]
    return draft.plan(steps, v.acknowledged("wake.ended"))


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
