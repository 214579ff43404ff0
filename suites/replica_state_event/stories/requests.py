"""Events by hand: what is refused, in which order, and how much an event covers that names little."""

from __future__ import annotations

from harness.plan.base import ExpectOutcome
from harness.plan.conditions import IsrIs, LeaderIs, ReplicaOffline
from harness.plan.model import Acknowledged, Plan, StepDone
from harness.plan.probes import EventTopic, ReplicaStateEventProbe
from harness.plan.steps import Shutdown, Start
from suites.building import (
    LIVELY_MS,
    answers,
    around_zookeeper,
    cast,
    closing,
    compose,
    must,
    opening,
    pace,
    topic,
)
from suites.replica_state_event.story import replica_state_event
from suites.story import Story, TargetFacts

STATE = ("t-0", "u-0", "v-0", "brokers")
ALICE = "alice"
ONE = (EventTopic(topic="t", partitions=(0,)),)


def refused(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Each wrong in one way, then in two, to see which is named first. `v` has no replica on the broker."""
    leader, broker, controller = cast(story, seed)

    def event(
        as_: str,
        expect: ExpectOutcome,
        *,
        node: str = "active-controller",
        topics: tuple[EventTopic, ...] = ONE,
        broker_epoch: str = "current",
        event_type: int = 1,
        user: str | None = None,
    ) -> ReplicaStateEventProbe:
        return ReplicaStateEventProbe(
            as_=as_,
            node=node,
            broker=broker,
            broker_epoch=broker_epoch,
            event_type=event_type,
            topics=topics,
            user=user,
            expect=expect,
            unchanged=STATE,
        )

    unknown = (EventTopic(topic="nowhere", partitions=(0,)),)
    foreign = (EventTopic(topic="v", partitions=(0,)),)
    beyond = (EventTopic(topic="t", partitions=(7,)),)
    steps = [
        *opening(leader),
        event("forbidden", answers("RSE-13", "error:31"), user=ALICE),
        event("not-controller", answers("RSE-15", "error:41"), node=leader),
        event("stale", answers("RSE-14", "error:77"), broker_epoch="stale"),
        event("type-0", answers("RSE-16", "error:1589"), event_type=0),
        event("type-2", answers("RSE-25", "error:1589"), event_type=2),
        event("unknown-topic", answers("RSE-18", "error:3"), topics=unknown),
        event("unknown-partition", answers("RSE-18", "error:3"), topics=beyond),
        event("not-its-own", answers("RSE-17", "error:42"), topics=foreign),
        event(
            "forbidden-stale-type",
            answers("DRSE-04", "error:31"),
            user=ALICE,
            broker_epoch="stale",
            event_type=2,
        ),
        event("elsewhere-stale", answers("DRSE-04", "error:41"), node=leader, broker_epoch="stale"),
        event("stale-type", answers("DRSE-04", "error:77"), broker_epoch="stale", event_type=2),
        event("type-unknown-topic", answers("DRSE-04", "error:1589"), event_type=2, topics=unknown),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=around_zookeeper(controller=controller),
        topics=[
            topic([leader, broker, controller]),
            topic([broker, leader], name="u"),
            topic([leader, controller], name="v"),
        ],
        security="sasl",
        steps=steps,
        coverage=[
            StepDone(step="type-unknown-topic"),
            Acknowledged(by="p1", acks="all", after="type-unknown-topic.ended"),
        ],
    )


def accepted(story: Story, target: TargetFacts, seed: int) -> Plan:
    """First an event about one topic, then one about everything; a new start of the broker undoes both."""
    leader, broker, controller = cast(story, seed)
    common = {"node": "active-controller", "broker": broker}
    steps = [
        *opening(leader),
        ReplicaStateEventProbe.model_validate(
            {
                "as": "of-a-topic",
                **common,
                "topics": (EventTopic(topic="t"),),
                "expect": answers("RSE-28", "served"),
            }
        ),
        IsrIs(as_="left-t", partition="t-0", lacks=broker, within_ms=LIVELY_MS, expect=must("RSE-28")),
        ReplicaOffline(as_="offline-t", node=broker, partition="t-0", within_ms=LIVELY_MS, expect=must("RSE-29")),
        LeaderIs(as_="keeps-u", partition="u-0", is_=broker, within_ms=1000, expect=must("RSE-28")),
        ReplicaStateEventProbe.model_validate({"as": "of-all", **common, "expect": answers("RSE-27", "served")}),
        LeaderIs(as_="left-u", partition="u-0", is_not=broker, within_ms=LIVELY_MS, expect=must("RSE-27")),
        Shutdown(as_="stop", nodes=broker),
        Start(as_="start", nodes=broker),
        IsrIs(as_="back-t", partition="t-0", has=broker, within_ms=LIVELY_MS, expect=must("DRSE-09")),
        IsrIs(as_="back-u", partition="u-0", has=broker, within_ms=LIVELY_MS, expect=must("DRSE-09")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=around_zookeeper(controller=controller),
        topics=[topic([leader, broker, controller]), topic([broker, leader], name="u", min_isr=1)],
        steps=steps,
        coverage=[
            StepDone(step="left-u"),
            Acknowledged(by="p1", acks="all", after="start.ended"),
        ],
    )


STORIES = (
    replica_state_event(
        "replica-state-events-refused",
        "Events without permission, of another epoch or type, or of replicas that are not there, are refused",
        refused,
        10,
        "RSE-10",
        "RSE-12",
        "DRSE-02",
        "DRSE-05",
    ),
    replica_state_event(
        "replica-state-events-accepted",
        "An event that names no partition means all of the topic, and one that names no topic means all",
        accepted,
        12,
        "RSE-05",
        "RSE-21",
        "RSE-22",
        "RSE-23",
        "RSE-25",
        "DRSE-01",
    ),
)
