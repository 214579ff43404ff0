"""Requests of a dead process arrive while another process runs under its id."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


@v.fault_scenario(
    "requests-of-the-dead", "Late requests of a dead process, beside those of its successor, change nothing", seconds=12
)
def build(draft: v.Draft) -> v.Plan:
    """Links hold a follower's fetches and its heartbeats from before its end to after its restart."""
    target = draft.target
    leader, follower, other = draft.roles
    to = (leader, other) if target.uses_zookeeper else ("controllers", leader)
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{follower}"),
        v.inject("late", v.LateBytesParameters(node=follower, to=to, queued_ms=draft.timing.heartbeat_ms)),
        v.Heal(as_="arrive", fault="late"),
        v.BrokerActive(as_="successor", node=follower, expect=v.must("DV-08")),
        v.BrokerEpochAbove(as_="registered", node=follower, value="$epoch", expect=v.must("DV-08")),
        v.Bind(as_="successor-epoch", value=f"broker-epoch:{follower}"),
        v.BrokerEpochAbove(
            as_="ousted",
            node=follower,
            value="$successor-epoch",
            within_ms=2 * draft.timing.lease_ms,
            expect=v.never("DV-08"),
        ),
        v.LeaderIs(as_="leads-on", partition="t-0", is_=leader, expect=v.must("DV-08")),
    ]
    return draft.plan(steps, v.acknowledged("arrive.ended"), may_lose=True)
