"""KIP-101's two cases: a follower that truncates to its own high watermark, and then leads.

Three replicas; the third is what makes both cases certain, with nothing left to time. While its link to the leader
stalls, the others hold records that are not committed yet. Then the answers to the follower stall, and the third is
released: the records are committed and acknowledged, and the follower, which holds them, is not told. It is killed and
starts again. By the text it truncates what it was not told of, stays in the ISR, since it lacks nothing that the leader
knows of, and is all there is to lead when the two others die.

Designs whose followers truncate by leader epoch, or whose ISR a process leaves that is gone, lose nothing.
"""

from __future__ import annotations

from functools import partial

from faults.capabilities import Capability
from harness.plan.conditions import BrokerActive, Checkpoint, IsrIs, LeaderIs, LogEnd, Registered
from harness.plan.injects import InjectKill, InjectStall
from harness.plan.model import Acknowledged, Coverage, Deviation, FaultProven, Plan, StepDone, WorkloadSpec
from harness.plan.probes import ProduceProbe
from harness.plan.steps import Heal, Produce, Step
from suites.building import (
    CONSEQUENCES,
    DIVERGES,
    LIVELY_MS,
    answers,
    cast,
    closing,
    compose,
    losses,
    must,
    never,
    opening,
    pace,
    topic,
)
from suites.replication_v2.story import DOCUMENT
from suites.story import EVERYWHERE, Story, TargetFacts

BEFORE, UNTOLD, OTHERS = 50, 5, 10
"""Records that all know to be committed; that the follower is not told of; that it takes alone when it leads."""
LAG_MS = 20_000
"""Nobody is dropped from the ISR for the stalls of this story."""


def truncated(diverge: bool, story: Story, target: TargetFacts, seed: int) -> Plan:
    leader, follower, third = cast(story, seed)
    timing = pace(target, lag_ms=LAG_MS)
    silent = max(timing.session_ms, timing.lease_ms)
    steps = [
        *opening(leader, partition="u-0", work=False),
        Produce(as_="before", topic="u", records=BEFORE, idempotent=True, expect=answers("LIVE-03", "served")),
        *(_checkpointed(f"told-{each}", each, BEFORE) for each in (leader, follower)),
        *_untold(leader, follower, third),
        InjectKill(as_="bounce", nodes=follower),
        *_forgotten(target, follower),
        *_alone(target, leader, follower, third),
        *_leads(target, follower, 3 * silent),
        *(_takes_others(target, follower) if diverge else []),
        *closing(work=False),
        Produce(as_="afterwards", topic="u", records=10, idempotent=True, expect=answers("LIVE-03", "served")),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, follower, third], name="u", min_isr=1)],
        workload=WorkloadSpec(),
        steps=steps,
        deviations=_found(target, diverge),
        coverage=[*_seen(diverge, target)],
    )


def _checkpointed(as_: str, broker: str, offset: int) -> Step:
    return Checkpoint(as_=as_, node=broker, partition="u-0", at_least=offset, within_ms=LIVELY_MS)


def _untold(leader: str, follower: str, third: str) -> list[Step]:
    """The follower holds what is committed, and its own high watermark is below it, in memory and on disk."""
    return [
        InjectStall(as_="slow", from_=third, to=leader),
        *(
            ProduceProbe(
                as_=f"untold-{each}",
                node=leader,
                topic="u",
                acks="all",
                background=True,
                timeout_ms=LIVELY_MS,
                expect=answers("LIVE-03", "served"),
            )
            for each in range(1, UNTOLD + 1)
        ),
        LogEnd(as_="held", node=follower, partition="u-0", is_=BEFORE + UNTOLD, within_ms=LIVELY_MS),
        InjectStall(as_="not-told", from_=follower, to=leader, streams="replies"),
        Heal(as_="released", fault="slow"),
        _checkpointed("committed", leader, BEFORE + UNTOLD),
        IsrIs(as_="all-in-sync", partition="u-0", has=(leader, follower, third), within_ms=LIVELY_MS),
    ]


def _forgotten(target: TargetFacts, follower: str) -> list[Step]:
    """Where somebody keeps account of who lives, the follower is given up before it is back."""
    if target.leader_driven:
        return [Checkpoint(as_="stale", node=follower, partition="u-0", is_=BEFORE, within_ms=LIVELY_MS)]
    return [IsrIs(as_="given-up", partition="u-0", lacks=follower, within_ms=LIVELY_MS, expect=must("ISR-05"))]


def _alone(target: TargetFacts, leader: str, follower: str, third: str) -> list[Step]:
    """The follower is back, and the two others are dead. Who was given up returns when they are: its fetch, whose
    answer stalls, would bring it back into the ISR, and then it may lead.
    """
    back = [Heal(as_="back", fault="bounce"), *_truncated(target, follower)]
    death = InjectKill(as_="both-die", nodes=(leader, third))
    return [*back, death] if target.leader_driven else [death, *back]


def _truncated(target: TargetFacts, follower: str) -> list[Step]:
    if not target.leader_driven:
        return [BrokerActive(as_="active", node=follower, within_ms=LIVELY_MS)]
    return [
        LogEnd(as_="cut-off", node=follower, partition="u-0", is_=BEFORE, within_ms=LIVELY_MS, expect=must("LD-48")),
        IsrIs(as_="still-in-sync", partition="u-0", has=follower, within_ms=LIVELY_MS, expect=must("DLD-08")),
        Registered(as_="registered", node=follower, within_ms=LIVELY_MS),
    ]


def _leads(target: TargetFacts, follower: str, patience_ms: int) -> list[Step]:
    if not target.leader_driven:
        return [LeaderIs(as_="leads", partition="u-0", is_=follower, within_ms=patience_ms, expect=never("ACK-01"))]
    return [
        LeaderIs(as_="leads", partition="u-0", is_=follower, within_ms=LIVELY_MS, expect=must("LD-28")),
        IsrIs(as_="alone", partition="u-0", is_=follower, within_ms=LIVELY_MS, expect=must("LD-53")),
        Checkpoint(as_="its-end", node=follower, partition="u-0", is_=BEFORE, within_ms=LIVELY_MS),
    ]


def _takes_others(target: TargetFacts, follower: str) -> list[Step]:
    """Where it leads it gives the same offsets to other records, each in a batch of its own, and its log becomes longer
    than those of the dead. Elsewhere it refuses them.
    """
    if not target.leader_driven:
        return [Produce(as_="others", topic="u", node=follower, acks=1, records=OTHERS, timeout_ms=500)]
    return [
        Produce(as_="others", topic="u", node=follower, acks="all", records=OTHERS, expect=answers("LD-55", "served")),
        _checkpointed("others-committed", follower, BEFORE + OTHERS),
    ]


def _found(target: TargetFacts, diverge: bool) -> list[Deviation]:
    """What the oracle has to find, on a target that lists it."""
    if not diverge:
        return losses(target, "must")
    if not target.differs(DIVERGES):
        return []
    return [
        Deviation(difference=DIVERGES, requirement="SEG-02", level="must"),
        *(
            Deviation(difference=DIVERGES, requirement=each, level="may")
            for each in ("ACK-01", *CONSEQUENCES)
            if each != "SEG-02"
        ),
    ]


def _seen(diverge: bool, target: TargetFacts) -> list[Coverage]:
    """Every record was acknowledged at acks=all before anybody died, wherever the story is told."""
    common: list[Coverage] = [
        FaultProven(fault="slow"),
        FaultProven(fault="not-told"),
        FaultProven(fault="bounce"),
        FaultProven(fault="both-die"),
        StepDone(step="committed"),
        Acknowledged(by="before", acks="all", at_least=BEFORE),
        *(Acknowledged(by=f"untold-{each}", acks="all", before="bounce.injected") for each in range(1, UNTOLD + 1)),
    ]
    if diverge and target.leader_driven:
        common.append(Acknowledged(by="others", acks="all", at_least=OTHERS, after="both-die.proven"))
    return common


def _story(slug: str, title: str, diverge: bool, *requirements: str) -> Story:
    return Story(
        slug=slug,
        title=title,
        requirements=(*requirements, "ACK-01", "ACK-04", "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.LINKS, Capability.KILL}),
        seconds=22,
        build=partial(truncated, diverge),
        document=DOCUMENT,
        dialects=EVERYWHERE,
    )


STORIES = (
    _story(
        "truncated-and-elected",
        "KIP-101, case 1: a follower that drops what it was not told of must not lead",
        False,
        "DLD-27",
        "DLD-28",
        "DLD-40",
        "LD-18",
        "LD-51",
        "LD-80",
        "LD-81",
    ),
    _story(
        "truncated-and-overwritten",
        "KIP-101, case 2: no two replicas hold different records at one offset",
        True,
        "SEG-02",
        "DLD-27",
        "DLD-28",
        "LD-48",
    ),
)
