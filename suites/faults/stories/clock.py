"""The wall clock of a node jumps and drifts; no deadline follows it."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from faults.capabilities import Capability
from harness.plan.base import After, Level
from harness.plan.conditions import BrokerActive, IsrIs, LeaderIs, WorkloadAcks
from harness.plan.injects import InjectClockJump, InjectClockSkew, InjectCut
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone, Topology
from harness.plan.probes import ProduceProbe
from harness.plan.steps import Heal, Hold, Step
from suites.building import (
    LIVELY_MS,
    answers,
    ask,
    cast,
    closing,
    cluster,
    compose,
    must,
    never,
    never_serves,
    opening,
    pace,
    silence_ms,
    topic,
)
from suites.faults.story import everywhere, hears
from suites.story import Story, TargetFacts

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
LEASE_MS = 4000
"""Long enough for the clock to be set, and that proven, while the lease that the cut left still runs."""
AWAY_MS = 6000
"""So long a healed link is watched where nobody is expected to come back by it."""


def cut_off(ms: int, story: Story, target: TargetFacts, seed: int) -> Plan:
    """The leader counts its silence on a clock that only runs forwards: it falls silent when it would have anyhow."""
    leader, *others = cast(story, seed)
    timing = pace(target, lease_ms=LEASE_MS)
    silent_ms = silence_ms(target, timing)
    serves_on = target.differs("AK-04") or target.differs("AZ-01")
    steps = [
        *opening(leader),
        InjectCut(as_="cut", from_=leader, to=hears(target)),
        InjectClockJump(as_="jump", nodes=leader, ms=ms),
        Hold(as_="silence-over", after="cut.proven", ms=silent_ms),
        *_silent(target, leader, silent_ms),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("CLK-01")),
        # Who serves on hands out old metadata too, and a client that asks it, and nobody else, stays with it.
        *([] if serves_on else [_goes_on()]),
        ProduceProbe(
            as_="promise",
            node=leader,
            topic="t",
            acks="all",
            repeat=3,
            timeout_ms=700,
            after=After(event="moved.ended"),
            expect=never_serves("HW-02"),
        ),
        Heal(as_="mend", fault="cut"),
        *_returns(target, leader, back=ms < 0),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=_with_clocks(cluster(target, others[-1]), (leader,)),
        topics=[topic([leader, *others])],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            FaultProven(fault="jump"),
            StepDone(step="alone-produce"),
            StepDone(step="promise"),
            Acknowledged(by="p1", acks="all", after="moved.ended"),
        ],
    )


def _returns(target: TargetFacts, leader: str, *, back: bool) -> list[Step]:
    """With its clock still wrong; a target that needs it to be right first is left alone with it for a while."""
    right = Heal(as_="right", fault="jump")
    rejoined = IsrIs(as_="rejoined", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("ISR-06"))
    expect = must("CLK-02")
    if back:
        expect = target.unless("AK-09", expect, never("CLK-02"))
    if expect.level is Level.MUST:
        return [BrokerActive(as_="returned", node=leader, within_ms=LIVELY_MS, expect=expect), rejoined, right]
    return [BrokerActive(as_="stays-away", node=leader, within_ms=AWAY_MS, expect=expect), right, rejoined]


def _silent(target: TargetFacts, leader: str, silent_ms: int) -> list[Step]:
    """Asked straight, at acks=1, when its time was up."""
    silent = target.rule("K631-32", "K343-18", "DLD-15")
    expect = target.unless("AK-04", never_serves(silent), answers(silent, "served"))
    expect = target.unless("AZ-01", expect, answers(silent, "served"))
    return [*ask("alone", leader, expect, after=After(event="cut.proven", plus_ms=silent_ms))]


def _goes_on() -> Step:
    return WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03"))


def drifts(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A leader whose clock is fast, a follower whose clock is slow, another one that lives yesterday: nobody is given
    up, nobody leaves the ISR, and records are taken as before."""
    leader, slow, yesterday = cast(story, seed)
    timing = pace(target)
    steps = [
        *opening(leader),
        InjectClockSkew(as_="fast", nodes=leader, ppm=200_000),
        InjectClockSkew(as_="slow", nodes=slow, ppm=-200_000),
        InjectClockJump(as_="yesterday", nodes=yesterday, ms=-DAY_MS),
        LeaderIs(as_="deposed", partition="t-0", is_not=leader, within_ms=2 * timing.lease_ms, expect=never("CLK-01")),
        *(
            IsrIs(as_=f"{word}-left", partition="t-0", lacks=broker, within_ms=500, expect=never("CLK-01"))
            for word, broker in (("slow", slow), ("yesterday", yesterday))
        ),
        _goes_on(),
        Heal(as_="exact", fault="fast"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=_with_clocks(cluster(target, yesterday), (leader, slow, yesterday)),
        topics=[topic([leader, slow, yesterday])],
        steps=steps,
        coverage=[
            *(FaultProven(fault=fault) for fault in ("fast", "slow", "yesterday")),
            Acknowledged(by="p1", acks="all", at_least=20, after="yesterday.proven", before="exact.begun"),
        ],
    )


def _with_clocks(topology: Topology, names: Collection[str]) -> Topology:
    """These nodes have a wall clock of their own."""
    nodes = (node.model_copy(update={"clock": "own"}) if node.name in names else node for node in topology.nodes)
    return topology.model_copy(update={"nodes": tuple(nodes)})


_SILENCE = ("K631-31", "K631-43", "D631-01", "D631-02", "K343-16", "DLD-16", "DV-03")
_NEEDS = (Capability.LINKS, Capability.CLOCK)

STORIES: tuple[Story, ...] = (
    everywhere(
        "clock-back-while-cut-off",
        "A leader that is cut off falls silent in time though its wall clock goes back an hour",
        partial(cut_off, -HOUR_MS),
        18,
        *_SILENCE,
        needs=_NEEDS,
    ),
    everywhere(
        "clock-forward-while-cut-off",
        "A leader that is cut off falls silent in time, and comes back, though its wall clock goes an hour forward",
        partial(cut_off, HOUR_MS),
        18,
        *_SILENCE,
        needs=_NEEDS,
    ),
    everywhere(
        "clocks-drift",
        "Wall clocks that drift apart, or are a day behind, end no lease, no session and no place in an ISR",
        drifts,
        12,
        "D631-01",
        needs=(Capability.CLOCK,),
    ),
)
