"""KIP-101's two cases: a follower that truncates to its own high watermark, and then leads.

The third of three replicas makes both cases certain, whatever the timing. While its link to the leader stalls, the
others hold records that are not committed yet. Then the answers to the follower stall, and the third is released: the
records are committed and acknowledged, and the follower, which holds them, does not learn that. It is killed and
restarts. By the text it truncates these records, stays in the ISR, since it lacks nothing that the leader knows of, and
is the only replica that can lead when the two others die.

Designs in which followers truncate by leader epoch, or in which a dead process leaves the ISR, lose nothing.
"""

from __future__ import annotations

from functools import partial

from fencepost.suites import vocabulary as v

BEFORE, UNREPORTED, OTHERS = 50, 5, 10
"""Records that all replicas know to be committed; that the follower does not; that it takes alone as leader."""
FEWER = UNREPORTED - 2
"""Records at the end: fewer than can be lost, so that a log which was cut stays shorter than it was (KAFKA-9491)."""
LAG_MS = 20_000
"""Long enough that the stalls of this scenario drop no replica from the ISR."""


_truncation = partial(v.scenario, seconds=22, document=v.REPLICATION_V2, dialects=v.ALL_DESIGNS)


@_truncation(
    "truncated-and-elected", "KIP-101, case 1: a follower that truncated committed records must not lead", False
)
@_truncation("truncated-and-overwritten", "KIP-101, case 2: no two replicas hold different records at one offset", True)
def truncated(diverge: bool, draft: v.Draft) -> v.Plan:
    target = draft.target
    leader, follower, third = draft.roles
    draft = draft.timed(lag_ms=LAG_MS)
    silent = max(draft.timing.session_ms, draft.timing.lease_ms)
    steps: list[v.Step] = [
        v.burst("before", "u", BEFORE),
        *(_checkpointed(f"notified-{broker}", broker, BEFORE, _spread(target)) for broker in (leader, follower)),
        *_unreported(leader, follower, third),
        v.inject("bounce", v.KillParameters(nodes=follower)),
        *_forgotten(target, follower),
        *_alone(target, leader, follower, third),
        *_leads(target, follower, 3 * silent),
        *(_takes_others(target, follower) if diverge else []),
    ]
    return draft.plan(
        steps,
        *_seen(diverge, target),
        topics=[v.topic([leader, follower, third], name="u", min_isr=1)],
        workload=None,
        deviations=_found(target, diverge),
        afterwards=[v.burst("afterwards", "u", FEWER)],
    )


def _spread(target: v.TargetFacts) -> v.Expect | None:
    """Return what a follower's checkpoint shows: it has the high watermark that the leader's answers carried."""
    if target.leader_driven:
        return v.must("LD-18", "LD-80", "LD-81")
    return v.must("INT-55") if target.uses_zookeeper else None


def _checkpointed(as_: str, broker: str, offset: int, expect: v.Expect | None = None) -> v.Step:
    return v.Checkpoint(as_=as_, node=broker, partition="u-0", at_least=offset, expect=expect)


def _unreported(leader: str, follower: str, third: str) -> list[v.Step]:
    """Let the follower hold committed records above its own high watermark, in memory and on disk."""
    return [
        *v.held_unreported(leader, follower, third, UNREPORTED, end=BEFORE + UNREPORTED),
        v.Heal(as_="released", fault="slow"),
        _checkpointed("committed", leader, BEFORE + UNREPORTED),
        v.IsrIs(as_="all-in-sync", partition="u-0", has=(leader, follower, third)),
    ]


def _forgotten(target: v.TargetFacts, follower: str) -> list[v.Step]:
    """Wait until the follower is given up, in a design in which a controller follows the live brokers."""
    if target.leader_driven:
        return [v.Checkpoint(as_="stale", node=follower, partition="u-0", is_=BEFORE)]
    return [v.IsrIs(as_="given-up", partition="u-0", lacks=follower, expect=v.must("ISR-05"))]


def _alone(target: v.TargetFacts, leader: str, follower: str, third: str) -> list[v.Step]:
    """Restart the follower and kill the two others.

    A follower that was given up restarts after their death: before it, its fetch, whose answer stalls, would bring it
    back into the ISR, and then it may lead.
    """
    back = [v.Heal(as_="back", fault="bounce"), *_truncated(target, follower)]
    death = v.inject("both-die", v.KillParameters(nodes=(leader, third)))
    return [*back, death] if target.leader_driven else [death, *back]


def _truncated(target: v.TargetFacts, follower: str) -> list[v.Step]:
    if not target.leader_driven:
        returned = v.must(target.rule("K631-44", "INT-51", "DLD-16"))
        return [v.BrokerActive(as_="active", node=follower, expect=returned)]
    return [
        v.LogEnd(as_="cut-off", node=follower, partition="u-0", is_=BEFORE, expect=v.must("LD-48")),
        v.IsrIs(as_="still-in-sync", partition="u-0", has=follower, expect=v.must("DLD-08")),
        v.Registered(as_="registered", node=follower, expect=v.must("DLD-16")),
    ]


def _leads(target: v.TargetFacts, follower: str, timeout_ms: int) -> list[v.Step]:
    if not target.leader_driven:
        return [v.LeaderIs(as_="leads", partition="u-0", is_=follower, within_ms=timeout_ms, expect=v.never("ACK-01"))]
    return [
        v.LeaderIs(as_="leads", partition="u-0", is_=follower, expect=v.must("LD-28")),
        v.IsrIs(as_="alone", partition="u-0", is_=follower, expect=v.must("LD-53")),
        v.Checkpoint(as_="its-end", node=follower, partition="u-0", is_=BEFORE, expect=v.must("LD-51")),
    ]


def _takes_others(target: v.TargetFacts, follower: str) -> list[v.Step]:
    """Produce to the follower.

    If it leads, it gives the same offsets to other records, each in a batch of its own, and its log becomes longer
    than those of the dead replicas. In other designs it refuses them.
    """
    if not target.leader_driven:
        return [v.Produce(as_="others", topic="u", node=follower, acks=1, records=OTHERS, timeout_ms=500)]
    return [
        # A leader serves no client before it knows that it wrote its ISR.
        v.logs_sole_isr("open", follower, "u-0", since="both-die.injected"),
        v.Produce(as_="others", topic="u", node=follower, acks="all", records=OTHERS, expect=v.serves("LD-55")),
        _checkpointed("others-committed", follower, BEFORE + OTHERS, v.must("LD-55")),
    ]


def _found(target: v.TargetFacts, diverge: bool) -> list[v.Deviation]:
    """Return the deviations that the judge has to find, on a target that lists them."""
    if not diverge:
        return v.expected_losses(target, "must")
    if not target.differs(v.LOG_DIVERGENCE):
        return []
    return [
        v.Deviation(difference=v.LOG_DIVERGENCE, requirement="SEG-02", level="must", mechanism=v.TRUNCATION),
        *(
            v.Deviation(difference=v.LOG_DIVERGENCE, requirement=each, level="may", mechanism=v.TRUNCATION)
            for each in ("ACK-01", *v.broken_by_loss())
            if each != "SEG-02"
        ),
    ]


def _seen(diverge: bool, target: v.TargetFacts) -> list[v.Coverage | str]:
    """Return the coverage: every record was acknowledged at acks=all before any broker died, in each design."""
    common: list[v.Coverage | str] = [
        "committed",
        v.acknowledged(by="before", at_least=BEFORE),
        *(v.acknowledged(before="bounce.injected", by=f"unreported-{number}") for number in range(1, UNREPORTED + 1)),
    ]
    if diverge and target.leader_driven:
        common.append(v.acknowledged("both-die.proven", by="others", at_least=OTHERS))
    return common
