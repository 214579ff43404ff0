"""Topics come, grow, move and go through their znodes."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import AssignmentIs, IsrIs, LeaderIs, Registered, WorkloadAcks, Znode
from harness.plan.injects import InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import DeleteTopicProbe, FetchProbe, MetadataProbe, ProduceProbe
from harness.plan.steps import Heal, Step, ZnodeStep
from suites.building import (
    LIVELY_MS,
    answers,
    cast,
    closing,
    compose,
    must,
    opening,
    pace,
    topic,
)
from suites.internals.story import internals
from suites.story import Story, TargetFacts
from suites.znodes import REASSIGN, create_topic, reassign, state_is_there, told, topic_data, topic_id

OLD = 5
"""Records that the topic of before held."""


def deleted_while_away(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The topic is gone for everybody when the broker comes back, and for the broker as well."""
    return _deleted(story, target, seed, [])


def recreated(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Then it is there again, by another id, and the broker that was away leads it: its log is empty."""
    away = cast(story, seed)[1]
    again: list[Step] = [
        *create_topic("again", "gone", topic_id(seed, "gone again"), (away,)),
        *told("told-again", "gone", (away,)),
        ProduceProbe(
            as_="first", node=away, topic="gone", acks=1, repeat=2, timeout_ms=2000, expect=answers("DINT-23", "served")
        ),
        FetchProbe(as_="only", node=away, topic="gone", offset=2, expect=answers("DINT-23", "served")),
        FetchProbe(as_="nothing-old", node=away, topic="gone", offset=3, expect=answers("DINT-23", "error:1")),
    ]
    return _deleted(story, target, seed, again)


def _deleted(story: Story, target: TargetFacts, seed: int, again: list[Step]) -> Plan:
    leader, away, controller = cast(story, seed)
    path = "/brokers/topics/gone"
    steps = [
        *opening(leader),
        *create_topic("create", "gone", topic_id(seed, "gone"), (leader, away)),
        *told("told", "gone", (leader, away)),
        ProduceProbe(as_="old", node=leader, topic="gone", acks=1, repeat=OLD, every_ms=20, timeout_ms=2000),
        InjectKill(as_="kill", nodes=away),
        Registered(as_="left", node=away, is_=False, within_ms=LIVELY_MS, expect=must("INT-43")),
        DeleteTopicProbe(as_="delete", node="active-controller", topic="gone", timeout_ms=2000),
        Heal(as_="restart", fault="kill"),
        Znode(as_="deleted", path=path, exists=False, within_ms=LIVELY_MS, expect=must("INT-24")),
        Znode(as_="done", path="/admin/delete_topics/gone", exists=False, within_ms=LIVELY_MS, expect=must("INT-36")),
        MetadataProbe(as_="nowhere", node=away, topic="gone", repeat=3, expect=answers("DINT-23", "error:3")),
        *again,
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, away, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            StepDone(step="old"),
            StepDone(step="nothing-old" if again else "nowhere"),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


def grown(story: Story, target: TargetFacts, seed: int) -> Plan:
    leader, follower, controller = cast(story, seed)
    identity = topic_id(seed, "grown")
    before, after = [(leader, follower)], [(leader, follower), (follower, leader)]
    steps = [
        *opening(leader),
        *create_topic("create", "grown", identity, *before),
        ZnodeStep(as_="grow", action="set", path="/brokers/topics/grown", data=topic_data(identity, after)),
        state_is_there("grown", "grown", 1, "INT-35"),
        *told("told", "grown", *after),
        *(
            ProduceProbe(
                as_=f"serves-{partition}",
                node=replicas[0],
                topic="grown",
                partition=partition,
                acks=1,
                timeout_ms=5000,
                repeat=3,
                expect=answers("INT-22", "served"),
            )
            for partition, replicas in enumerate(after)
        ),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[StepDone(step="serves-1"), Acknowledged(by="p1", acks="all", after="grow.ended")],
    )


def reassigned(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Under load the topic moves from the first two brokers to the last two."""
    leader, follower, controller = cast(story, seed)
    steps = [
        *opening(leader),
        reassign("move", {"t-0": (follower, controller)}),
        AssignmentIs(
            as_="moved", partition="t-0", is_=(follower, controller), within_ms=LIVELY_MS, expect=must("INT-04")
        ),
        LeaderIs(as_="led", partition="t-0", is_=follower, within_ms=LIVELY_MS, expect=must("INT-38")),
        IsrIs(as_="in-sync", partition="t-0", is_=(follower, controller), within_ms=LIVELY_MS, expect=must("INT-10")),
        Znode(as_="done", path=REASSIGN, exists=False, within_ms=LIVELY_MS, expect=must("DINT-20")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower])],
        steps=steps,
        coverage=[StepDone(step="done"), Acknowledged(by="p1", acks="all", after="done.ended")],
    )


STORIES = (
    internals(
        "topic-deleted-while-away",
        "A topic that is deleted while a broker is away does not come back with it",
        deleted_while_away,
        11,
        "INT-09",
        "INT-20",
        needs={Capability.KILL},
    ),
    internals(
        "topic-recreated",
        "A topic that is deleted while a broker is away, and created again, holds nothing of the old one",
        recreated,
        12,
        "INT-09",
        "INT-20",
        needs={Capability.KILL},
    ),
    internals(
        "partitions-added",
        "A topic whose znode gets another partition has it soon",
        grown,
        8,
        "INT-10",
        "INT-32",
        "INT-34",
        "DINT-19",
    ),
    internals(
        "reassignment",
        "A partition moves to other replicas under load",
        reassigned,
        9,
        "INT-11",
        "INT-24",
        "DINT-20",
    ),
)
