"""Containers that are off their network, or get too little of a processor."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import IsrIs, LeaderIs, WorkloadAcks
from harness.plan.injects import InjectCpu, InjectDisconnect
from harness.plan.model import Acknowledged, FaultProven, Plan
from harness.plan.steps import Heal, Step
from suites.building import LIVELY_MS, cast, closing, compose, must, opening, pace, topic
from suites.faults.story import everywhere
from suites.story import Story, TargetFacts

A_TENTH = 0.1


def follower_off(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Nobody reaches a follower any more, clients included: the ISR goes on without it, and takes it back."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        InjectDisconnect(as_="unplug", nodes=follower),
        IsrIs(as_="left", partition="t-0", lacks=follower, within_ms=LIVELY_MS, expect=must("ISR-05")),
        _goes_on(),
        Heal(as_="plug", fault="unplug"),
        _returns(follower),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "unplug", "plug")


def leader_off(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Nobody reaches the leader any more, nor it anybody: another leads, and clients find it."""
    leader, *followers = cast(story, seed)
    steps = [
        *opening(leader),
        InjectDisconnect(as_="unplug", nodes="leader:t-0"),
        LeaderIs(
            as_="moved",
            partition="t-0",
            is_not=leader,
            within_ms=LIVELY_MS,
            expect=must(target.rule("D631-07", "INT-28", "LD-31")),
        ),
        _goes_on(),
        Heal(as_="plug", fault="unplug"),
        _returns(leader),
        *closing(),
    ]
    return _told(story, target, seed, [leader, *followers], steps, "unplug", "plug")


def short_of_processor(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower stands still for nine tenths of the time: whether it keeps its place is its own affair, the partition
    goes on, and all is whole afterwards."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        InjectCpu(as_="squeeze", nodes=follower, cpus=A_TENTH),
        _goes_on(),
        Heal(as_="release", fault="squeeze"),
        _returns(follower),
        *closing(),
    ]
    return _told(story, target, seed, [leader, follower, other], steps, "squeeze", "release")


def _goes_on() -> Step:
    return WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("ISR-05"))


def _returns(broker: str) -> Step:
    return IsrIs(as_="returned", partition="t-0", has=broker, within_ms=LIVELY_MS, expect=must("ISR-06"))


def _told(
    story: Story, target: TargetFacts, seed: int, replicas: list[str], steps: list[Step], fault: str, healing: str
) -> Plan:
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic(replicas)],
        steps=steps,
        coverage=[
            FaultProven(fault=fault),
            Acknowledged(by="p1", acks="all", after=f"{fault}.proven", before=f"{healing}.begun"),
        ],
    )


STORIES: tuple[Story, ...] = (
    everywhere(
        "off-the-network-follower",
        "A follower whose network is taken away leaves the ISR and returns",
        follower_off,
        20,
        "ISR-05",
        "ISR-06",
        needs=(Capability.NETWORK,),
    ),
    everywhere(
        "off-the-network-leader",
        "A leader whose network is taken away is succeeded by another",
        leader_off,
        20,
        "ISR-05",
        "ISR-06",
        "D631-07",
        "INT-28",
        "LD-31",
        needs=(Capability.NETWORK,),
    ),
    everywhere(
        "short-of-processor",
        "A follower with a tenth of a processor holds nobody up",
        short_of_processor,
        15,
        "ISR-05",
        "ISR-06",
        needs=(Capability.RESOURCES,),
    ),
)
