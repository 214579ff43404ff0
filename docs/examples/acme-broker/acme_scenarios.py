"""The scenarios of Acme: a decorated function makes the plan of each, and `SCENARIOS` lists them."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


@v.scenario(
    "acme-paused-follower",
    "A follower that slept returns to the ISR",
    seconds=8,
    document="Acme handbook",
    dialects=v.ALL_DESIGNS,
)
def paused_follower(draft: v.Draft) -> v.Plan:
    """A follower sleeps until it has left the ISR, wakes, and returns."""
    _, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.inject("nap", v.PauseParameters(nodes=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower),
        v.Heal(as_="wake", fault="nap"),
        v.IsrIs(as_="back", partition="t-0", has=follower, expect=v.must("ACME-01")),
    ]
    return draft.plan(steps, v.acknowledged("wake.ended"))


SCENARIOS = v.declared_in(__name__)
