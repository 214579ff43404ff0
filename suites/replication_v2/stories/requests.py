"""What is asked in a queue: by a leader of the past, of a replica that is closed, and the life of each request."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import AssignmentIs, Backlog, IsrIs, LeaderEpochAbove, LeaderIs, WorkloadAcks
from harness.plan.injects import InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import MetadataProbe, ReassignProbe
from harness.plan.steps import Bind, Heal, Step
from suites.building import LIVELY_MS, answers, cast, closing, compose, must, never, opening, pace, topic
from suites.replication_v2.story import (
    completed,
    ignored,
    number,
    reached,
    received,
    replication_v2,
    request,
    requested,
    says,
)
from suites.story import Story, TargetFacts


def of_the_past(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A replica is closed at an epoch of the past, since that is never looked at; a request to start it that is as old
    is ignored, and one of the present epoch is not. What comes back has nothing, and catches up.

    Its leader asks it to start as well when it finds that it does not fetch: it may be out of the ISR for a moment.
    """
    leader, follower, other = cast(story, seed)
    started = f"{completed('start-replica', 't-0')} request from leader [0-9]+"
    steps = [
        *opening(leader),
        InjectKill(as_="kill", nodes=leader),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("LD-31")),
        Heal(as_="restart", fault="kill"),
        IsrIs(as_="rejoined", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("LD-71")),
        Bind(as_="epoch", value="leader-epoch:t-0"),
        Bind(as_="new", node="leader:t-0"),
        request("old-close", leader, "close-replica", "t-0", sender=leader, epoch=0),
        says("closes", leader, completed("close-replica", "t-0"), must("LD-34"), after="rejoined.ended"),
        says("dropped", "$new", rf"t-0: ISR is \[(?!.*\b{number(leader)}\b)", must("LD-70"), after="rejoined.ended"),
        request("old-start", leader, "start-replica", "t-0", sender=leader, epoch=0),
        says("ignores", leader, ignored("start-replica", "t-0"), must("LD-36"), after="dropped.ended"),
        Backlog(as_="taken", node=leader, is_=0, within_ms=LIVELY_MS, expect=must("LD-32")),
        says("starts", leader, f"{started}, at epoch 0$", never("LD-36"), within_ms=500),
        request("start", leader, "start-replica", "t-0", sender=leader, epoch=1),
        says("starts-now", leader, f"{started}, at epoch 1$", must("LD-36"), after="dropped.ended"),
        IsrIs(as_="back", partition="t-0", has=leader, within_ms=LIVELY_MS, expect=must("DLD-43")),
        LeaderEpochAbove(as_="another", partition="t-0", value="$epoch", within_ms=200, expect=never("LD-03")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower, other])],
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            StepDone(step="ignores"),
            StepDone(step="starts-now"),
            Acknowledged(by="p1", acks="all", after="back.ended"),
        ],
    )


def lifecycle(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A partition moves under load, away from its leader; every request and every step of it is logged by who did it.

    Nobody who does not host the partition hears of its changes of leader.
    """
    leader, follower, newcomer = cast(story, seed)
    to = (follower, newcomer)
    life: list[Step] = [
        says("noticed", leader, reached("noticed", "t-0"), must("LD-19")),
        says("asked-to-start", leader, requested("start-replica", "t-0", newcomer), must("LD-37")),
        says("heard", newcomer, received("start-replica", "t-0"), must("LD-07")),
        says("started", newcomer, completed("start-replica", "t-0"), must("DLD-03")),
        says("caught-up", leader, reached("caught-up", "t-0"), must("LD-74")),
        says("written", leader, reached("isr-written", "t-0"), must("LD-76")),
        says("asked-itself", leader, requested("close-replica", "t-0", leader), must("LD-77")),
        says("closed-itself", leader, completed("close-replica", "t-0"), must("LD-46")),
    ]
    steps = [
        *opening(leader),
        ReassignProbe(as_="move", node=newcomer, partition="t-0", to=to, expect=answers("DLD-18", "served")),
        *life,
        AssignmentIs(as_="moved", partition="t-0", is_=to, within_ms=LIVELY_MS, expect=must("LD-78")),
        LeaderIs(as_="led", partition="t-0", is_=follower, within_ms=LIVELY_MS, expect=must("LD-29")),
        IsrIs(as_="in-sync", partition="t-0", is_=to, within_ms=LIVELY_MS, expect=must("LD-76")),
        MetadataProbe(as_="known", node=leader, topic="t", expect=answers("DLD-19", "served")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower])],
        steps=steps,
        coverage=[StepDone(step="closed-itself"), Acknowledged(by="p1", acks="all", after="led.ended")],
    )


STORIES = (
    replication_v2(
        "v2-requests-of-the-past",
        "A request to start at an old epoch is ignored; one to close is carried out at any",
        of_the_past,
        15,
        "LD-30",
        "DLD-24",
        needs={Capability.KILL},
    ),
    replication_v2(
        "v2-life-of-a-reassignment",
        "A partition moves away from its leader, and each state change can be followed",
        lifecycle,
        10,
        "LD-14",
        "DLD-11",
    ),
)
