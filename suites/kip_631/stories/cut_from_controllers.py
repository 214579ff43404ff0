"""Stories 2 and 3: a leader that no controller can talk to stops serving when its lease ends."""

from __future__ import annotations

from functools import partial

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.conditions import BrokerActive, BrokerEpochAbove, IsrIs, LeaderIs, WorkloadAcks
from harness.plan.injects import InjectCut, InjectOneWay, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import HeartbeatProbe
from harness.plan.steps import Bind, Heal, Hold, Step
from suites.building import (
    LIVELY_MS,
    answers,
    ask,
    cast,
    closing,
    compose,
    must,
    never_serves,
    opening,
    pace,
    topic,
)
from suites.story import Story, TargetFacts


def cut(leader: str) -> Step:
    return InjectCut(as_="cut", from_=leader, to="controllers")


def stall(leader: str) -> Step:
    return InjectStall(as_="cut", from_=leader, to="controllers")


def replies_lost(leader: str) -> Step:
    """The controllers still hear the heartbeats; only their answers do not come back."""
    return InjectOneWay(as_="cut", from_="controllers", to=leader)


FAULTS = {"cut": cut, "stall": stall, "replies": replies_lost}


def build(how: str, story: Story, target: TargetFacts, seed: int) -> Plan:
    leader, *followers = cast(story, seed)
    timing = pace(target)
    serves_on = target.unless("AK-04", never_serves("K631-32"), answers("K631-32", "served"))
    # A deposed leader that serves on hands out its old metadata too: a client that asks it, and nobody else, stays with
    # it until the links are mended.
    unheld = WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03"))
    goes_on = [] if target.differs("AK-04") else [unheld]
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        FAULTS[how](leader),
        Hold(as_="lease-over", after="cut.proven", ms=timing.lease_ms),
        *ask("alone", leader, serves_on, after=After(event="cut.proven", plus_ms=timing.lease_ms)),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("D631-06")),
        IsrIs(as_="left", partition="t-0", lacks=leader, within_ms=LIVELY_MS, expect=must("D631-07")),
        *goes_on,
        *ask("deposed", leader, serves_on, repeat=1),
        Heal(as_="mend", fault="cut"),
        BrokerActive(as_="returned", node=leader, within_ms=LIVELY_MS, expect=must("K631-44")),
        *renewed(target, leader),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, *followers])],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="alone-produce"),
            Acknowledged(by="p1", acks="all", after="moved.ended"),
        ],
    )


def renewed(target: TargetFacts, broker: str) -> list[Step]:
    """The lease came back with a new epoch, and the old epoch is refused."""
    old = HeartbeatProbe(
        as_="old-epoch",
        node="active-controller",
        broker=broker,
        broker_epoch="$epoch",
        expect=target.unless("AK-03", answers("D631-19", "error:77"), answers("D631-19", "served")),
        unchanged=("brokers",),
    )
    if target.differs("AK-03"):
        return [old]
    epoch = BrokerEpochAbove(as_="new-epoch", node=broker, value="$epoch", within_ms=LIVELY_MS, expect=must("K631-44"))
    return [epoch, old]


def _story(how: str, title: str, *requirements: str) -> Story:
    common = (
        "K631-31",
        "K631-32",
        "K631-43",
        "K631-44",
        "D631-01",
        "D631-02",
        "D631-07",
        "D631-08",
        "D631-19",
        "DV-03",
    )
    return Story(
        slug=f"cut-from-controllers-{how}",
        title=title,
        requirements=(*common, "D631-06", *requirements, "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.LINKS}),
        seconds=10,
        build=partial(build, how),
    )


STORIES = (
    _story("cut", "A broker cut from all controllers serves nothing after its lease"),
    _story("stall", "A broker whose links to all controllers stall serves nothing after its lease"),
    _story(
        "replies", "A broker that hears no controller, though they hear it, serves nothing after its lease", "D631-05"
    ),
)
