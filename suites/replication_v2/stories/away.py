"""A broker is away while topics are created, deleted and moved."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import AssignmentIs, BrokerActive, IsrIs, LeaderIs, Registered
from harness.plan.injects import InjectKill, InjectPause
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone, WorkloadSpec
from harness.plan.probes import (
    CreateTopicProbe,
    DeleteTopicProbe,
    FetchProbe,
    MetadataProbe,
    ReassignProbe,
)
from harness.plan.steps import Heal, Produce, Step
from suites.building import LIVELY_MS, answers, cast, closing, compose, must, never, never_serves, opening, pace, topic
from suites.replication_v2.story import completed, gone, number, reached, replication_v2, requested, says, there
from suites.story import Story, TargetFacts

OLD, NEW = 5, 2
"""Records of the topic of before, and of the one that has its name now."""
LONG_SESSION_MS = 4000
"""Who sleeps is still counted on while a topic is created."""
GIVEN_UP_MS = 1500


def deleted(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The topic is gone for everybody at once; the broker learns of it from its queue."""
    return _deleted(story, target, seed, [], "nowhere")


def created_again(story: Story, target: TargetFacts, seed: int) -> Plan:
    """By then another topic has its name, which is moved to the broker in the end: nothing of the old one is in it."""
    leader, away, _ = cast(story, seed)
    again: list[Step] = [
        ReassignProbe(as_="hand-over", node=leader, partition="gone-0", to=away, expect=answers("DLD-18", "served")),
        AssignmentIs(as_="handed-over", partition="gone-0", is_=away, within_ms=LIVELY_MS, expect=must("LD-76")),
        LeaderIs(as_="leads", partition="gone-0", is_=away, within_ms=LIVELY_MS, expect=must("LD-78")),
        # At a later epoch than the old topic's, with its ISR written: clients are served from now on.
        says("serves", away, r"gone-0: leads on at leader epoch [1-9]", must("LD-46")),
        FetchProbe(as_="only", node=away, topic="gone", offset=NEW, timeout_ms=5000, expect=answers("LD-46", "served")),
        FetchProbe(as_="nothing-old", node=away, topic="gone", offset=NEW + 1, expect=answers("LD-46", "error:1")),
    ]
    return _deleted(story, target, seed, again, "nothing-old")


def _deleted(story: Story, target: TargetFacts, seed: int, again: list[Step], last: str) -> Plan:
    leader, away, other = cast(story, seed)
    recreate: list[Step] = [
        CreateTopicProbe(
            as_="again", node=other, topic="gone", replicas=2, timeout_ms=10_000, expect=answers("LD-57", "served")
        ),
        LeaderIs(as_="led-anew", partition="gone-0", within_ms=LIVELY_MS, expect=must("LD-35")),
        IsrIs(as_="shared-anew", partition="gone-0", has=(leader, other), within_ms=LIVELY_MS, expect=must("LD-53")),
        Produce(as_="new", topic="gone", acks=1, records=NEW, expect=answers("LD-55", "served")),
    ]
    absent = MetadataProbe(as_="nowhere", node=away, topic="gone", repeat=3, expect=answers("LD-04", "error:3"))
    steps = [
        *opening(leader),
        CreateTopicProbe(as_="create", node=leader, topic="gone", timeout_ms=10_000, expect=answers("LD-58", "served")),
        LeaderIs(as_="led", partition="gone-0", within_ms=LIVELY_MS, expect=must("LD-35")),
        IsrIs(as_="shared", partition="gone-0", has=(leader, away, other), within_ms=LIVELY_MS, expect=must("LD-53")),
        Produce(as_="old", topic="gone", acks=1, records=OLD, expect=answers("LD-55", "served")),
        InjectKill(as_="kill", nodes=away),
        Registered(as_="left", node=away, is_=False, within_ms=LIVELY_MS, expect=must("LD-10")),
        DeleteTopicProbe(
            as_="delete", node=leader, topic="gone", timeout_ms=10_000, expect=answers("DLD-12", "served")
        ),
        gone("deleted", "/brokers/topics/gone", must("LD-64")),
        gone("done", "/brokers/partitions_reassigned/gone/0", must("LD-66")),
        *(recreate if again else []),
        Heal(as_="restart", fault="kill"),
        says("closes", away, completed("close-replica", "gone-0"), must("LD-25"), after="restart.begun"),
        BrokerActive(as_="returned", node=away, within_ms=LIVELY_MS, expect=must("LD-27")),
        *(again or [absent]),
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
            StepDone(step="old"),
            StepDone(step=last),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


def created(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A topic that is to live on a broker that sleeps is not created in time, and then who creates it dies.

    What the attempt left is cleaned by the next one, which does without both; they find all of it in their queues.
    """
    leader, away, asked = cast(story, seed)
    steps = [
        *opening(leader),
        InjectPause(as_="sleep", nodes=away),
        CreateTopicProbe(
            as_="too-slow", node=asked, topic="late", timeout_ms=GIVEN_UP_MS, expect=never_serves("DLD-32")
        ),
        there("left-over", "/brokers/partitions_reassigned/late/0", must("LD-59"), has=str(number(away))),
        InjectKill(as_="kill", nodes=asked),
        *(
            Registered(as_=f"gone-{broker}", node=broker, is_=False, within_ms=LIVELY_MS, expect=must("LD-10"))
            for broker in (away, asked)
        ),
        CreateTopicProbe(
            as_="again", node=leader, topic="late", replicas=1, timeout_ms=10_000, expect=answers("LD-63", "served")
        ),
        there("created", "/brokers/topics/late/0/replicas", must("LD-61"), has=f"[{number(leader)}]"),
        gone("cleaned", "/brokers/partitions_reassigned/late/0", must("LD-61")),
        Heal(as_="wake", fault="sleep"),
        Heal(as_="restart", fault="kill"),
        *(
            IsrIs(as_=f"rejoined-{broker}", partition="t-0", has=broker, within_ms=LIVELY_MS, expect=must("LD-71"))
            for broker in (away, asked)
        ),
        AssignmentIs(as_="as-created", partition="late-0", is_=leader, within_ms=LIVELY_MS, expect=must("LD-42")),
        IsrIs(as_="on-its-own", partition="late-0", is_=leader, within_ms=LIVELY_MS, expect=must("LD-42")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, session_ms=LONG_SESSION_MS),
        topics=[topic([leader, away, asked])],
        steps=steps,
        coverage=[
            FaultProven(fault="sleep"),
            FaultProven(fault="kill"),
            StepDone(step="left-over"),
            StepDone(step="created"),
            Acknowledged(by="p1", acks="all", after="wake.ended"),
        ],
    )


def reassigned(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The new replica sleeps when the partition is moved to it: the move waits for it, and ends when it is back."""
    leader, old, away = cast(story, seed)
    steps = [
        *opening(leader),
        InjectPause(as_="sleep", nodes=away),
        ReassignProbe(as_="move", node=leader, partition="t-0", to=(leader, away), expect=answers("DLD-18", "served")),
        says("asked", leader, requested("start-replica", "t-0", away), must("LD-37")),
        Registered(as_="given-up", node=away, is_=False, within_ms=LIVELY_MS, expect=must("LD-10")),
        says("not-before", leader, reached("close-replica-sent", "t-0"), never("LD-74"), within_ms=500),
        Heal(as_="wake", fault="sleep"),
        says("starts", away, completed("start-replica", "t-0"), must("LD-36")),
        AssignmentIs(as_="moved", partition="t-0", is_=(leader, away), within_ms=LIVELY_MS, expect=must("LD-76")),
        IsrIs(as_="in-sync", partition="t-0", is_=(leader, away), within_ms=LIVELY_MS, expect=must("DLD-10")),
        gone("done", "/brokers/partitions_reassigned/t/0", must("LD-14")),
        says("closed", old, completed("close-replica", "t-0"), must("LD-46")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, session_ms=3000),
        topics=[topic([leader, old])],
        steps=steps,
        coverage=[
            FaultProven(fault="sleep"),
            StepDone(step="moved"),
            Acknowledged(by="p1", acks="all", after="moved.ended"),
        ],
    )


def silent(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The old replica dies as the partition is moved away from it, and nobody writes: the move does not wait for it.

    What it has on its disk is removed when it is back.
    """
    leader, old, new = cast(story, seed)
    steps = [
        *opening(leader, partition="u-0", work=False),
        Produce(as_="before", topic="u", records=20, idempotent=True, expect=answers("LIVE-03", "served")),
        InjectKill(as_="kill", nodes=old),
        ReassignProbe(as_="move", node=leader, partition="u-0", to=(leader, new), expect=answers("DLD-18", "served")),
        says("asked", leader, requested("close-replica", "u-0", old), must("LD-74")),
        IsrIs(as_="out", partition="u-0", lacks=old, within_ms=LIVELY_MS, expect=must("DLD-09")),
        AssignmentIs(as_="moved", partition="u-0", is_=(leader, new), within_ms=LIVELY_MS, expect=must("LD-75")),
        IsrIs(as_="in-sync", partition="u-0", is_=(leader, new), within_ms=LIVELY_MS, expect=must("LD-76")),
        Heal(as_="restart", fault="kill"),
        says("closes", old, completed("close-replica", "u-0"), must("LD-04")),
        *closing(work=False),
        Produce(as_="after", topic="u", records=20, idempotent=True, expect=answers("LIVE-03", "served")),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, old], name="u", min_isr=1)],
        workload=WorkloadSpec(),
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            StepDone(step="moved"),
            StepDone(step="closes"),
            Acknowledged(by="after", acks="all", at_least=20),
        ],
    )


STORIES = (
    replication_v2(
        "v2-old-replica-silent",
        "A partition moves away from a replica that is dead, also if nobody writes",
        silent,
        13,
        "DLD-08",
        "DLD-25",
        needs={Capability.KILL},
    ),
    replication_v2(
        "v2-away-during-delete",
        "A topic is deleted while a broker is away: the broker closes its replica when it is back",
        deleted,
        12,
        "LD-33",
        "DLD-24",
        needs={Capability.KILL},
    ),
    replication_v2(
        "v2-away-during-delete-and-create",
        "A topic is deleted and created again while a broker is away: nothing of the old one comes back",
        created_again,
        15,
        "LD-34",
        "DLD-17",
        needs={Capability.KILL},
    ),
    replication_v2(
        "v2-away-during-create",
        "A topic that waits for a broker that sleeps fails in time, and its remains are cleaned",
        created,
        18,
        "LD-56",
        "DLD-32",
        needs={Capability.PAUSE},
    ),
    replication_v2(
        "v2-away-during-reassignment",
        "A partition is moved to a broker that sleeps: the move ends when it wakes",
        reassigned,
        14,
        "LD-74",
        "DLD-03",
        needs={Capability.PAUSE},
    ),
)
