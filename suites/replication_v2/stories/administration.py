"""Ordinary clients administer: any broker carries out what it is asked for."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import ExpectOutcome
from harness.plan.conditions import AssignmentIs, Backlog, IsrIs, LeaderIs
from harness.plan.injects import InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import (
    CreatePartitionsProbe,
    CreateTopicProbe,
    DeleteTopicProbe,
    ListReassignmentsProbe,
    MetadataProbe,
    ProduceProbe,
    ReassignProbe,
)
from harness.plan.steps import Heal
from suites.building import LIVELY_MS, answers, cast, closing, compose, must, opening, pace, topic
from suites.replication_v2.story import completed, gone, number, replication_v2, requested, says, there
from suites.story import Story, TargetFacts

NOBODY_MS = 10_000
TOPIC_EXISTS, ALREADY_MOVING = "error:36", "error:60"


def _served(requirement: str) -> ExpectOutcome:
    return answers(requirement, "served")


def topics(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A topic is created, grown, moved and deleted, each by another broker, under load."""
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        CreateTopicProbe(as_="create", node=follower, topic="made", timeout_ms=NOBODY_MS, expect=_served("LD-58")),
        there("assigned", "/brokers/topics/made/0/replicas", must("LD-11")),
        gone("settled", "/brokers/partitions_reassigned/made/0", must("LD-61")),
        there("in-sync", "/brokers/topics/made/0/ISR", must("LD-13"), has='"epoch":0'),
        CreateTopicProbe(as_="again", node=other, topic="made", expect=answers("LD-56", TOPIC_EXISTS)),
        CreatePartitionsProbe(
            as_="grow", node=other, topic="made", count=2, timeout_ms=NOBODY_MS, expect=_served("LD-59")
        ),
        LeaderIs(as_="grown", partition="made-1", within_ms=LIVELY_MS, expect=must("LD-35")),
        IsrIs(
            as_="shared", partition="made-1", has=(leader, follower, other), within_ms=LIVELY_MS, expect=must("DLD-33")
        ),
        ReassignProbe(as_="move", node=follower, partition="made-1", to=(other,), expect=_served("DLD-18")),
        AssignmentIs(as_="moved", partition="made-1", is_=other, within_ms=LIVELY_MS, expect=must("LD-76")),
        LeaderIs(as_="led", partition="made-1", is_=other, within_ms=LIVELY_MS, expect=must("LD-78")),
        ListReassignmentsProbe(as_="nothing-moves", node=leader, expect=_served("DLD-18")),
        DeleteTopicProbe(as_="delete", node=leader, topic="made", timeout_ms=NOBODY_MS, expect=_served("LD-64")),
        gone("deleted", "/brokers/topics/made", must("LD-64")),
        gone("forgotten", "/brokers/partitions_reassigned/made", must("LD-66")),
        says("asked", other, requested("close-replica", "made-1", other), must("LD-38")),
        says("closed", other, completed("close-replica", "made-1"), must("LD-46")),
        MetadataProbe(as_="unknown", node=follower, topic="made", repeat=2, expect=answers("DLD-19", "error:3")),
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
            StepDone(step="closed"),
            StepDone(step="unknown"),
            Acknowledged(by="p1", acks="all", after="delete.ended"),
        ],
    )


def moves(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A move that cannot end yet, since its new replica is dead, is listed, kept, and neither given up nor replaced."""
    leader, follower, newcomer = cast(story, seed)
    steps = [
        *opening(leader),
        InjectKill(as_="kill", nodes=newcomer),
        ReassignProbe(as_="move", node=leader, partition="t-0", to=(leader, newcomer), expect=_served("DLD-30")),
        ListReassignmentsProbe(as_="listed", node=follower, expect=_served("DLD-18")),
        ReassignProbe(as_="the-same", node=leader, partition="t-0", to=(leader, newcomer), expect=_served("DLD-30")),
        ReassignProbe(
            as_="another",
            node=follower,
            partition="t-0",
            to=(follower, leader),
            expect=answers("DLD-30", ALREADY_MOVING),
        ),
        ReassignProbe(as_="give-up", node=leader, partition="t-0", expect=answers("DLD-30", "error:42")),
        Backlog(as_="waits", node=newcomer, at_least=1, within_ms=LIVELY_MS, expect=must("LD-39")),
        ProduceProbe(
            as_="goes-on", node=leader, topic="t", acks="all", timeout_ms=5000, expect=answers("LD-74", "served")
        ),
        Heal(as_="restart", fault="kill"),
        AssignmentIs(as_="moved", partition="t-0", is_=(leader, newcomer), within_ms=LIVELY_MS, expect=must("LD-76")),
        there("assigned", "/brokers/topics/t/0/replicas", must("LD-76"), has=f"[{number(leader)},{number(newcomer)}]"),
        LeaderIs(as_="stays", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("DLD-11")),
        gone("settled", "/brokers/partitions_reassigned/t/0", must("DLD-11")),
        ReassignProbe(as_="nothing", node=leader, partition="t-0", expect=answers("DLD-30", "error:85")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, session_ms=4000),
        topics=[topic([leader, follower])],
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            StepDone(step="listed"),
            StepDone(step="nothing"),
            Acknowledged(by="p1", acks="all", after="moved.ended"),
        ],
    )


STORIES = (
    replication_v2(
        "v2-topics-administered",
        "A topic is created, grown, moved and deleted by requests to any broker",
        topics,
        11,
        "LD-57",
        "LD-65",
        "DLD-12",
    ),
    replication_v2(
        "v2-reassignments-administered",
        "A move under way is listed and neither given up nor replaced",
        moves,
        12,
        "LD-43",
        "DLD-10",
        needs={Capability.KILL},
    ),
)
