"""The leader dies, and the only other replica may not lead: it is outside the ISR, or it lost its log."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LEASE_MS = 8000
"""Long enough for a broker to return with an empty directory before the cluster has given its dead process up."""


def outside_the_isr(draft: v.Draft) -> v.Plan:
    """A follower that lacks acknowledged records is the only live replica: none leads before the leader returns."""
    leader, follower, _ = draft.roles
    shrinks = v.must(draft.target.rule("ISR-05", "ISR-05", "LD-70"))
    steps = [
        *v.setup(leader),
        v.inject("behind", v.StallParameters(from_=follower, to=leader)),
        v.IsrIs(as_="dropped", partition="t-0", is_=leader, expect=shrinks),
        v.WorkloadAcks(as_="without-it", more=20, expect=shrinks),
        v.inject("kill", v.KillParameters(nodes=leader)),
        *_no_successor(draft.target, draft.timing, leader, follower, ("LD-12", "LD-28", "DLD-22")),
        *v.teardown(),
    ]
    return draft.plan(
        steps,
        v.StepDone(step="leads-again"),
        v.acknowledged("dropped.ended", before="kill.injected"),
        topics=[v.topic([leader, follower], min_isr=1)],
    )


def emptied_and_alone(draft: v.Draft) -> v.Plan:
    """A member of the ISR returns with an empty directory while the leader is dead, before either was given up."""
    leader, follower, _ = draft.roles
    draft = draft.timed(lease_ms=LEASE_MS, session_ms=LEASE_MS)
    steps = [
        *v.setup(leader),
        v.inject("empty", v.EmptiedParameters(nodes=follower)),
        v.inject("kill", v.KillParameters(nodes=leader)),
        v.Heal(as_="return", fault="empty"),
        *_no_successor(draft.target, draft.timing, leader, follower),
        *v.teardown(),
    ]
    return draft.plan(
        steps,
        v.StepDone(step="leads-again"),
        v.acknowledged(before="empty.injected"),
        topics=[v.topic([leader, follower], min_isr=1)],
    )


def _no_successor(
    target: v.TargetFacts,
    timing: v.Timing,
    leader: str,
    follower: str,
    leader_driven: tuple[str, str, str] = ("ISR-09", "ISR-09", "ISR-09"),
) -> list[v.Step]:
    """The partition waits for the dead leader, which then leads again.

    `leader_driven` has the rules of the design leader-driven: that no replica leads, that the follower never does, and
    that the leader does again.
    """
    waits, usurped, returns = (target.rule("ISR-09", "ISR-09", rule) for rule in leader_driven)
    return [
        v.LeaderIs(as_="leaderless", partition="t-0", is_="none", expect=v.must(waits)),
        v.LeaderIs(
            as_="usurps",
            partition="t-0",
            is_=follower,
            within_ms=2 * timing.election_ms + 1000,
            expect=v.never(usurped),
        ),
        v.Heal(as_="restart", fault="kill"),
        v.LeaderIs(as_="leads-again", partition="t-0", is_=leader, expect=v.must(returns)),
    ]


SCENARIOS = (
    v.fault_scenario(
        "outside-the-isr",
        "A replica outside the ISR does not lead, even if no other replica is left",
        outside_the_isr,
        13,
        "ISR-09",
        "ISR-05",
        needs={v.Capability.LINKS, v.Capability.KILL},
        dialects=v.WITHOUT_ZOOKEEPER | v.ZOOKEEPER_MODE,
    ),
    v.fault_scenario(
        "emptied-and-alone",
        "A replica that lost its log does not lead, even if no other replica is left",
        emptied_and_alone,
        25,
        "ISR-09",
        needs={v.Capability.DIRECTORIES, v.Capability.KILL},
        dialects=v.WITHOUT_ZOOKEEPER | v.LEADER_DRIVEN,
    ),
)
