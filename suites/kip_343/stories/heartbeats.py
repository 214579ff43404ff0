"""A leader whose heartbeats do not arrive, or are not answered; and an island with the controller of before."""

from __future__ import annotations

from functools import partial

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.conditions import (
    ActiveController,
    BrokerActive,
    BrokerEpochAbove,
    BrokerFenced,
    IsrIs,
    LeaderIs,
    MetadataFrom,
    Registered,
    WorkloadAcks,
)
from harness.plan.injects import InjectCut, InjectIsolate, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone, Timing
from harness.plan.probes import MetadataHeartbeatProbe, MetadataProbe
from harness.plan.steps import Bind, Heal, Hold, Step
from suites.building import (
    LIVELY_MS,
    answers,
    ask,
    cast,
    closing,
    compose,
    must,
    never,
    never_serves,
    opening,
    pace,
    topic,
)
from suites.kip_343.story import OR_AS_SHIPPED, kip_343
from suites.story import Story, TargetFacts

FENCE_MS = 4000
"""Far enough above the controller's timeout that what is between the two can be looked at."""


def cut(leader: str, controller: str, as_: str) -> Step:
    return InjectCut(as_=as_, from_=leader, to=controller)


def stall(leader: str, controller: str, as_: str) -> Step:
    return InjectStall(as_=as_, from_=leader, to=controller)


FAULTS = {"cut": cut, "stall": stall}


def silent(how: str, story: Story, target: TargetFacts, seed: int) -> Plan:
    """Its requests are lost, all else arrives: inactive first, then fenced; and back, as often as it happens."""
    leader, follower, controller = cast(story, seed)
    timing = pace(target, fence_ms=FENCE_MS)
    fault = FAULTS[how]
    again = "heartbeats" in target.levels and how == "cut"
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        fault(leader, controller, "away"),
        *_given_up(target, leader, follower, timing),
        Registered(as_="unregistered", node=leader, is_=False, within_ms=300, expect=never("K343-63")),
        Heal(as_="mend", fault="away"),
        BrokerActive(as_="returned", node=leader, within_ms=LIVELY_MS, expect=must("K343-21")),
        BrokerEpochAbove(as_="another", node=leader, value="$epoch", within_ms=300, expect=never("K343-05")),
        IsrIs(as_="rejoined", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("ISR-06")),
        *(_once_more(fault(leader, controller, "away-again"), leader) if again else []),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="away"),
            StepDone(step="alone-produce"),
            Acknowledged(by="p1", acks="all", after="alone-produce.ended"),
        ],
    )


def _given_up(target: TargetFacts, leader: str, follower: str, timing: Timing) -> list[Step]:
    after = After(event="away.proven", plus_ms=timing.fence_ms)
    over = Hold(as_="fence-over", after="away.proven", ms=timing.fence_ms)
    if target.differs("AZ-01"):
        lives = never("K343-20").model_copy(update={"difference": "AZ-01"})
        serves = answers("K343-16", "served").model_copy(update={"difference": "AZ-01"})
        return [
            BrokerFenced(as_="inactive", node=leader, within_ms=2 * timing.session_ms, expect=lives),
            over,
            *ask("alone", leader, serves, after=after),
        ]
    return [
        BrokerFenced(as_="inactive", node=leader, within_ms=LIVELY_MS, expect=must("K343-20")),
        MetadataProbe(as_="not-yet-fenced", node=leader, topic="t", expect=answers("K343-24", "served")),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("K343-10")),
        MetadataFrom(as_="absent", node=follower, lacks=leader, within_ms=LIVELY_MS, expect=must("K343-09")),
        BrokerFenced(as_="fenced", node=leader, by="itself", within_ms=LIVELY_MS, expect=must("K343-16")),
        over,
        *ask("alone", leader, never_serves("K343-18"), after=after),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
    ]


def _once_more(fault: Step, leader: str) -> list[Step]:
    return [
        fault,
        BrokerFenced(as_="inactive-again", node=leader, within_ms=LIVELY_MS, expect=must("K343-20")),
        BrokerFenced(as_="fenced-again", node=leader, by="itself", within_ms=LIVELY_MS, expect=must("K343-19")),
        Heal(as_="mend-again", fault="away-again"),
        BrokerActive(as_="returned-again", node=leader, within_ms=LIVELY_MS, expect=must("K343-19")),
    ]


def unanswered(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The controller hears it, and is not heard: it stays active there and is fenced by itself all the same."""
    leader, follower, controller = cast(story, seed)
    timing = pace(target)
    after = After(event="away.proven", plus_ms=timing.fence_ms)
    steps = [
        *opening(leader),
        InjectStall(as_="away", from_=leader, to=controller, streams="replies"),
        BrokerFenced(as_="fenced", node=leader, by="itself", within_ms=LIVELY_MS, expect=must("D343-02")),
        BrokerFenced(as_="inactive", node=leader, within_ms=2 * timing.lease_ms, expect=never("D343-03")),
        MetadataFrom(as_="still-there", node=follower, has=leader, within_ms=500, expect=must("D343-03")),
        *ask("alone", leader, never_serves("K343-18"), after=after),
        Heal(as_="mend", fault="away"),
        BrokerActive(as_="returned", node=leader, within_ms=LIVELY_MS, expect=must("K343-19")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="away"),
            StepDone(step="alone-produce"),
            Acknowledged(by="p1", acks="all", after="mend.ended"),
        ],
    )


def island(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The controller of before and a leader reach each other and clients, and nobody else: nothing is granted there."""
    leader, follower, controller = cast(story, seed)
    timing = pace(target)
    alone_ms = timing.session_ms + timing.fence_ms
    steps = [
        *opening(leader),
        InjectIsolate(as_="cut", nodes=(leader, controller), from_=("zookeeper", follower), how="stall"),
        ActiveController(as_="elected", is_=follower, within_ms=LIVELY_MS, expect=must("INT-66")),
        LeaderIs(as_="moved", partition="t-0", is_=follower, within_ms=LIVELY_MS, expect=must("INT-28")),
        Hold(as_="over", after="cut.proven", ms=alone_ms),
        *ask("marooned", leader, never_serves("D343-20"), after=After(event="cut.proven", plus_ms=alone_ms)),
        MetadataHeartbeatProbe(
            as_="grants", node=controller, broker=leader, timeout_ms=700, expect=never_serves("D343-20")
        ),
        Heal(as_="mend", fault="cut"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, follower, controller], min_isr=1)],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="marooned-produce"),
            StepDone(step="grants"),
            Acknowledged(by="p1", acks="all", after="mend.ended"),
        ],
    )


_COMMON = ("K343-08", "K343-15", "K343-22", "K343-32", "K343-35", "K343-36", "K343-53", "K343-54", "D343-02", "D343-03")

STORIES = (
    kip_343(
        "silent-broker-cut",
        "A leader whose heartbeats are cut off is inactive first, and then fenced by itself",
        partial(silent, "cut"),
        20,
        *_COMMON,
        "D343-06",
        needs={Capability.LINKS},
        levels=OR_AS_SHIPPED,
    ),
    kip_343(
        "silent-broker-stall",
        "A leader whose heartbeats stall is inactive first, and then fenced by itself",
        partial(silent, "stall"),
        15,
        *_COMMON,
        "D343-06",
        needs={Capability.LINKS},
    ),
    kip_343(
        "unanswered-broker",
        "A leader whose heartbeats are not answered fences itself while it is active for the controller",
        unanswered,
        14,
        *_COMMON,
        needs={Capability.LINKS},
    ),
    kip_343(
        "island-of-the-controller",
        "On an island with the controller of before a leader is not kept alive",
        island,
        15,
        "K343-16",
        "INT-62",
        needs={Capability.LINKS},
    ),
)
