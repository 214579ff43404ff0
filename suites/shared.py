"""Plans and steps that the suites of several documents share."""

from __future__ import annotations

from fencepost.harness.plan.conditions.condition import LIVENESS_TIMEOUT_MS
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import Plan, Timing
from fencepost.harness.plan.steps import Step
from fencepost.suites.building import acknowledged, logs_sole_isr
from fencepost.suites.clusters import topic
from fencepost.suites.expectations import answers, must, never, never_serves, serves
from fencepost.suites.requests import produced_at
from fencepost.suites.scenario import Draft
from fencepost.suites.target_facts import TargetFacts
from fencepost.suites.words import (
    Bind,
    BrokerFenced,
    Heal,
    IsrIs,
    KillParameters,
    LeaderEpochAbove,
    LeaderIs,
    LogEnd,
    StallParameters,
    UpdateFeaturesProbe,
    WorkloadAcks,
)

LAG_MS = 4000
"""So long that a follower that stalls is in the ISR while a request is sent and answered."""
SETTLED_MS = 5000
"""The time after a finalization in which brokers that react to it do so."""


def led_from_inside_the_isr(draft: Draft) -> Plan:
    """A follower that lacks acknowledged records is the only live replica: none leads before the leader returns."""
    leader, follower, _ = draft.roles
    shrinks = must(draft.target.rule("ISR-05", "ISR-05", "LD-70"))
    steps: list[Step] = [
        inject("behind", StallParameters(from_=follower, to=leader)),
        IsrIs(as_="dropped", partition="t-0", is_=leader, expect=shrinks),
        WorkloadAcks(as_="without-it", more=20, expect=shrinks),
        inject("kill", KillParameters(nodes=leader)),
        *no_successor(draft.target, draft.timing, leader, follower, ("LD-12", "LD-28", "DLD-22")),
    ]
    return draft.plan(
        steps,
        "leads-again",
        acknowledged("dropped.ended", before="kill.injected"),
        topics=[topic([leader, follower], min_isr=1)],
    )


def no_successor(
    target: TargetFacts,
    timing: Timing,
    leader: str,
    follower: str,
    leader_driven: tuple[str, str, str] = ("ISR-09", "ISR-09", "ISR-09"),
) -> list[Step]:
    """The partition waits for the dead leader, which then leads again.

    `leader_driven` has the rules of the design leader-driven: that no replica leads, that the follower never does, and
    that the leader does again.
    """
    waits, usurped, returns = (target.rule("ISR-09", "ISR-09", rule) for rule in leader_driven)
    return [
        LeaderIs(as_="leaderless", partition="t-0", is_="none", expect=must(waits)),
        LeaderIs(
            as_="usurps", partition="t-0", is_=follower, within_ms=2 * timing.election_ms + 1000, expect=never(usurped)
        ),
        Heal(as_="restart", fault="kill"),
        LeaderIs(as_="leads-again", partition="t-0", is_=leader, expect=must(returns)),
    ]


def followers_leave_and_return(draft: Draft) -> Plan:
    """One follower after the other stalls and leaves the ISR, and both return: the leader alone is below min.isr."""
    leader, first, second = draft.roles
    steps: list[Step] = [
        inject("stall-first", StallParameters(from_=first, to=leader)),
        # Until it leaves the ISR, nothing is acknowledged that it lacks.
        produced_at("unheard", leader, "all", never_serves("HW-02"), timeout_ms=LAG_MS // 4),
        IsrIs(as_="first-leaves", partition="t-0", is_=(leader, second), expect=must("ISR-05")),
        WorkloadAcks(as_="two-are-enough", more=20, expect=must("ISR-05")),
        inject("stall-second", StallParameters(from_=second, to=leader)),
        IsrIs(as_="second-leaves", partition="t-0", is_=leader, expect=must("ISR-05")),
        logs_sole_isr("adopted", leader, "t-0", since="stall-second.injected"),
        produced_at("too-few", leader, "all", answers("ISR-08", "error:[19, 20]"), repeat=3, after="adopted.ended"),
        Heal(as_="mend-second", fault="stall-second"),
        IsrIs(as_="second-returns", partition="t-0", has=second, expect=must("ISR-06")),
        WorkloadAcks(as_="two-again", more=20, expect=must("LIVE-03")),
        Heal(as_="mend-first", fault="stall-first"),
        IsrIs(as_="first-returns", partition="t-0", is_=(leader, first, second), expect=must("ISR-06")),
    ]
    return draft.timed(lag_ms=LAG_MS).plan(
        steps, "too-few", acknowledged("first-leaves.ended", before="stall-second.injected")
    )


def features_finalized(broker: str) -> list[Step]:
    """Return the request for the features of the new release, beside which the broker stays, and t-0's leader too.

    The request is in the background: a fence ends within tenths of a second, and may begin before the response.
    """
    return [
        Bind(as_="epoch-before", value="leader-epoch:t-0"),
        UpdateFeaturesProbe(
            as_="finalize", node="active-controller", timeout_ms=10_000, background=True, expect=serves("UPG-03")
        ),
        BrokerFenced(as_="fenced", node=broker, within_ms=SETTLED_MS, expect=never("UPG-07")),
        LeaderEpochAbove(
            as_="leader-moved", partition="t-0", value="$epoch-before", within_ms=100, expect=never("UPG-07")
        ),
    ]


def held_unreported(leader: str, follower: str, slow: str, count: int, *, end: int) -> list[Step]:
    """Let a follower hold records of u that it does not know to be committed, while another replica lacks them.

    `end` is the follower's log end after these `count` records.
    """
    return [
        inject("slow", StallParameters(from_=slow, to=leader)),
        *(
            produced_at(
                f"unreported-{number}",
                leader,
                "all",
                serves("LIVE-03"),
                topic="u",
                background=True,
                timeout_ms=LIVENESS_TIMEOUT_MS,
            )
            for number in range(1, count + 1)
        ),
        LogEnd(as_="held", node=follower, partition="u-0", is_=end),
        inject("not-notified", StallParameters(from_=follower, to=leader, streams="replies")),
    ]
