"""The leader dies, and the only other replica may not lead: it is outside the ISR, or it lost its log."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LEASE_MS = 8000
"""Long enough for a broker to return with an empty directory before the cluster has given its dead process up."""


@v.fault_scenario(
    "outside-the-isr",
    "A replica outside the ISR does not lead, even if no other replica is left",
    seconds=13,
    dialects=v.WITHOUT_ZOOKEEPER | v.ZOOKEEPER_MODE,
)
def outside_the_isr(draft: v.Draft) -> v.Plan:
    return v.led_from_inside_the_isr(draft)


@v.fault_scenario(
    "emptied-and-alone",
    "A replica that lost its log does not lead, even if no other replica is left",
    seconds=25,
    dialects=v.WITHOUT_ZOOKEEPER | v.LEADER_DRIVEN,
)
def emptied_and_alone(draft: v.Draft) -> v.Plan:
    """A member of the ISR returns with an empty directory while the leader is dead, before either was given up."""
    leader, follower, _ = draft.roles
    draft = draft.timed(lease_ms=LEASE_MS, session_ms=LEASE_MS)
    steps: list[v.Step] = [
        v.inject("empty", v.EmptiedParameters(nodes=follower)),
        v.inject("kill", v.KillParameters(nodes=leader)),
        v.Heal(as_="return", fault="empty"),
        *v.no_successor(draft.target, draft.timing, leader, follower),
    ]
    return draft.plan(
        steps, "leads-again", v.acknowledged(before="empty.injected"), topics=[v.topic([leader, follower], min_isr=1)]
    )
