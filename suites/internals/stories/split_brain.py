"""Two that think they lead: the document's two leaders of one partition, and a controller of the past."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import ActiveController, LeaderIs, MetadataFrom, TopicCreatedThrough, Znode
from harness.plan.injects import InjectCut, InjectPause, InjectStall
from harness.plan.model import Acknowledged, FaultProven, OutcomeSeen, Plan, StepDone
from harness.plan.probes import DeleteTopicProbe, LeaderAndIsrProbe, MetadataProbe, ProduceProbe, UpdateMetadataProbe
from harness.plan.steps import Bind, Heal, Hold, Step
from suites.building import (
    LIVELY_MS,
    answers,
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
from suites.internals.story import internals
from suites.story import Story, TargetFacts
from suites.znodes import create_topic, topic_id


def two_leaders(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A sleeps past its session and wakes before it is told that B leads.

    One replica in sync is enough for the topic, so that the old leader would acknowledge alone if it could shrink its
    ISR. Nobody fetches from it any more: its shrink comes after the lag time, and fails.
    """
    old, new, controller = cast(story, seed)
    timing = pace(target)
    steps = [
        *opening(old),
        InjectStall(as_="untold", from_=controller, to=old),
        InjectPause(as_="sleep", nodes=old),
        *(
            ProduceProbe(
                as_=f"asleep-{number}",
                node=old,
                topic="t",
                acks="all",
                background=True,
                timeout_ms=4 * timing.session_ms + 2 * timing.lag_ms,
                expect=never_serves("INT-57"),
            )
            for number in (1, 2)
        ),
        LeaderIs(as_="moved", partition="t-0", is_not=old, within_ms=LIVELY_MS, expect=must("INT-54")),
        Bind(as_="successor", node="leader:t-0"),
        MetadataFrom(
            as_="successor-knows",
            node=new,
            partition="t-0",
            leader="$successor",
            within_ms=LIVELY_MS,
            expect=must("INT-22"),
        ),
        Heal(as_="wake", fault="sleep"),
        ProduceProbe(as_="believes", node=old, topic="t", acks=1, repeat=5, every_ms=200, timeout_ms=500),
        ProduceProbe(
            as_="awake", node=old, topic="t", acks="all", repeat=2, timeout_ms=700, expect=never_serves("INT-58")
        ),
        Hold(as_="lag-over", after="wake.ended", ms=2 * timing.lag_ms),
        ProduceProbe(
            as_="cannot-shrink",
            node=old,
            topic="t",
            acks="all",
            repeat=2,
            timeout_ms=700,
            expect=never_serves("INT-59"),
        ),
        LeaderIs(as_="leads-again", partition="t-0", is_=old, within_ms=300, expect=never("INT-59")),
        Heal(as_="tell", fault="untold"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([old, new, controller], min_isr=1)],
        steps=steps,
        coverage=[
            FaultProven(fault="untold"),
            FaultProven(fault="sleep"),
            OutcomeSeen(step="believes", outcome="served"),
            StepDone(step="cannot-shrink"),
            Acknowledged(by="p1", acks="all", after="tell.ended"),
        ],
    )


def old_controller(story: Story, target: TargetFacts, seed: int) -> Plan:
    """What a controller had sent waits in its links while another is elected, and arrives in the other's time.

    The topic that it is about is deleted meanwhile: were the old command obeyed, it would come back.
    """
    leader, follower, controller = cast(story, seed)
    brokers = (leader, follower)
    timing = pace(target)
    identity = topic_id(seed, "late")
    steps = [
        *opening(leader),
        Bind(as_="old", node="active-controller"),
        Bind(as_="old-epoch", value="controller-epoch"),
        InjectStall(as_="waiting", from_="$old", to=brokers),
        *create_topic("queued", "late", identity, brokers),
        InjectPause(as_="sleep", nodes="$old"),
        ActiveController(as_="elected", is_not="$old", within_ms=LIVELY_MS, expect=must("INT-66")),
        *(
            MetadataFrom(as_=f"known-{broker}", node=broker, partition="late-0", within_ms=LIVELY_MS)
            for broker in brokers
        ),
        DeleteTopicProbe(
            as_="delete", node="active-controller", topic="late", timeout_ms=9000, expect=answers("INT-36", "served")
        ),
        Znode(as_="deleted", path="/brokers/topics/late", exists=False, within_ms=LIVELY_MS, expect=must("INT-24")),
        InjectCut(as_="blind", from_="$old", to="zookeeper"),
        Heal(as_="wake", fault="sleep"),
        Heal(as_="release", fault="waiting"),
        *(
            MetadataProbe(
                as_=f"not-back-{broker}",
                node=broker,
                topic="late",
                repeat=5,
                every_ms=200,
                expect=answers("DINT-05", "error:3"),
            )
            for broker in brokers
        ),
        *refused_at_old_epoch("raw", leader, "$old-epoch"),
        Heal(as_="sees", fault="blind"),
        TopicCreatedThrough(as_="works", node=follower, within_ms=LIVELY_MS, expect=must("INT-05")),
        ActiveController(as_="again", is_=controller, within_ms=500, expect=never("INT-62")),
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
            FaultProven(fault="waiting"),
            FaultProven(fault="sleep"),
            FaultProven(fault="blind"),
            StepDone(step="raw-update-metadata"),
            Acknowledged(by="p1", acks="all", after="elected.ended"),
        ],
    )


def refused_at_old_epoch(name: str, broker: str, epoch: str) -> list[Step]:
    """What the controller of that epoch would say now: the same as the present one, and refused for its epoch alone."""
    refused = answers("DINT-05", "error:11")
    return [
        LeaderAndIsrProbe(
            as_=f"{name}-leader-and-isr",
            node=broker,
            topic="t",
            controller_epoch=epoch,
            expect=refused,
            unchanged=("t-0", "brokers"),
        ),
        UpdateMetadataProbe(
            as_=f"{name}-update-metadata",
            node=broker,
            controller_epoch=epoch,
            expect=refused,
            unchanged=("t-0", "brokers"),
        ),
    ]


STORIES = (
    internals(
        "two-leaders",
        "Of two leaders the old one acknowledges nothing at acks=all: its shrink fails the compare-and-set",
        two_leaders,
        16,
        "INT-31",
        "INT-55",
        "INT-56",
        "INT-60",
        "INT-67",
        "DINT-01",
        "DINT-03",
        needs={Capability.LINKS, Capability.PAUSE},
        levels=("base",),
    ),
    internals(
        "old-controller",
        "What a controller of the past had sent arrives late and is refused",
        old_controller,
        15,
        "INT-06",
        "INT-07",
        "INT-64",
        "INT-65",
        "DINT-04",
        needs={Capability.LINKS, Capability.PAUSE},
    ),
)
