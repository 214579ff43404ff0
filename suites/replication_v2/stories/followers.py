"""Followers that sleep, that do not hear ZooKeeper, and whose queue is full."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import AssignmentIs, Backlog, IsrIs, Registered, WorkloadAcks
from harness.plan.injects import InjectKill, InjectPause, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import CreateTopicProbe, DeleteTopicProbe, MetadataProbe, ReassignProbe
from harness.plan.steps import Heal
from suites.building import LIVELY_MS, answers, cast, closing, compose, must, never, opening, pace, topic
from suites.replication_v2.story import (
    completed,
    number,
    received,
    replication_v2,
    request,
    requested,
    says,
    there,
)
from suites.story import Story, TargetFacts

QUEUE = 5
"""state.change.queue.max.requests at the level `small-queue`."""
LONG_SESSION_MS = 8000
"""A follower that is asked nothing for so long is still registered."""


def paused(story: Story, target: TargetFacts, seed: int) -> Plan:
    """It sleeps past KeepInSyncTime and its session: the leader drops it, and takes it back when it has caught up."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        InjectPause(as_="sleep", nodes=follower),
        IsrIs(as_="dropped", partition="t-0", is_=(leader, other), within_ms=LIVELY_MS, expect=must("LD-70")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LD-70")),
        Registered(as_="gone", node=follower, is_=False, within_ms=LIVELY_MS, expect=must("LD-10")),
        Heal(as_="wake", fault="sleep"),
        IsrIs(as_="rejoined", partition="t-0", has=follower, within_ms=LIVELY_MS, expect=must("LD-71")),
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
            FaultProven(fault="sleep"),
            Acknowledged(by="p1", acks="all", after="dropped.ended", before="wake.begun"),
        ],
    )


def slow_to_be_told(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower does not hear ZooKeeper for a while, and the partition is moved away from it.

    The request waits in its queue; until it is heard of, the follower replicates on, since its session lives.
    """
    leader, follower, other = cast(story, seed)
    asked = requested("close-replica", "t-0", follower)
    steps = [
        *opening(leader),
        InjectStall(as_="deaf", from_=follower, to="zookeeper"),
        ReassignProbe(as_="move", node=leader, partition="t-0", to=(leader, other), expect=answers("DLD-18", "served")),
        says("asked", leader, asked, must("LD-39")),
        Backlog(as_="waits", node=follower, is_=1, within_ms=LIVELY_MS, expect=must("LD-08")),
        says("not-yet", follower, received("close-replica", "t-0"), never("LD-21"), within_ms=1000),
        IsrIs(as_="in-sync", partition="t-0", has=follower, within_ms=200, expect=must("LD-75")),
        Heal(as_="mend", fault="deaf"),
        says("closes", follower, completed("close-replica", "t-0"), must("LD-32")),
        Backlog(as_="taken", node=follower, is_=0, within_ms=LIVELY_MS, expect=must("LD-32")),
        AssignmentIs(as_="moved", partition="t-0", is_=(leader, other), within_ms=LIVELY_MS, expect=must("LD-76")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, session_ms=LONG_SESSION_MS),
        topics=[topic([leader, follower, other])],
        steps=steps,
        coverage=[
            FaultProven(fault="deaf"),
            StepDone(step="closes"),
            Acknowledged(by="p1", acks="all", after="deaf.proven", before="mend.begun"),
        ],
    )


def full(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The queue of a broker that is away is filled, first with requests to start, then with requests to close.

    The first are dropped for a topic that is deleted; of the others none can be, so that the leader finds no room
    for its own, and asks again when the broker is back and has taken what was there.
    """
    leader, away, other = cast(story, seed)
    queue = f"/brokers/state/{number(away)}"
    starts = [request(f"start-{each}", away, "start-replica", "t-0", sender=other, epoch=each) for each in range(QUEUE)]
    closes = [
        request(f"close-{each}", away, "close-replica", f"old-{each}", sender=other, epoch=each)
        for each in range(QUEUE - 1)
    ]
    steps = [
        *opening(leader),
        CreateTopicProbe(as_="create", node=leader, topic="one", timeout_ms=10_000, expect=answers("LD-58", "served")),
        InjectKill(as_="kill", nodes=away),
        Registered(as_="left", node=away, is_=False, within_ms=LIVELY_MS, expect=must("LD-10")),
        *starts,
        DeleteTopicProbe(as_="delete", node=leader, topic="one", timeout_ms=10_000, expect=answers("DLD-12", "served")),
        there("shrunk", queue, must("DLD-14"), has='"shrunk":1'),
        Backlog(as_="only-to-close", node=away, is_=1, within_ms=LIVELY_MS, expect=must("LD-40")),
        *closes,
        ReassignProbe(as_="move", node=leader, partition="t-0", to=(leader, other), expect=answers("DLD-18", "served")),
        says("full", leader, "FollowerStateChangeQueueFull", must("LD-41")),
        Backlog(as_="still-full", node=away, at_most=QUEUE, within_ms=LIVELY_MS, expect=must("LD-41")),
        Heal(as_="restart", fault="kill"),
        says("closed", away, completed("close-replica", "one-0"), must("LD-04")),
        says("nothing-there", away, completed("close-replica", "old-0"), must("DLD-39")),
        request("not-its-own", away, "start-replica", "old-9", sender=leader, epoch=0),
        says("refuses", away, "(failed|ignored) start-replica for topic old partition 9,", must("LD-33")),
        says("moved-away", away, completed("close-replica", "t-0"), must("DLD-14")),
        says(
            "dropped",
            away,
            f"{received('start-replica', 't-0')} from leader {number(other)},",
            never("LD-40"),
            within_ms=200,
        ),
        AssignmentIs(as_="moved", partition="t-0", is_=(leader, other), within_ms=LIVELY_MS, expect=must("LD-76")),
        MetadataProbe(as_="nowhere", node=away, topic="one", expect=answers("LD-04", "error:3")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, away, other])],
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            StepDone(step="shrunk"),
            StepDone(step="full"),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


STORIES = (
    replication_v2(
        "v2-follower-paused",
        "A follower that sleeps leaves the ISR and returns",
        paused,
        11,
        "LD-16",
        "LD-23",
        needs={Capability.PAUSE},
    ),
    replication_v2(
        "v2-follower-slow-to-be-told",
        "What a slow follower is asked waits in its queue, and is carried out when it hears of it",
        slow_to_be_told,
        11,
        "LD-02",
        "LD-08",
        needs={Capability.LINKS},
    ),
    replication_v2(
        "v2-queue-full",
        "A full queue keeps what has to be closed, refuses the rest, and is caught up with",
        full,
        16,
        "LD-15",
        "LD-33",
        "DLD-25",
        needs={Capability.KILL},
        levels=("small-queue",),
    ),
)
