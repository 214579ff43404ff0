"""Stories 13 and 14: a leader that lost everybody, and one that slept beyond its lease."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.conditions import BrokerActive, IsrIs, LeaderIs
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone, WorkloadSpec
from harness.plan.probes import AlterIsrProbe, ListOffsetsProbe, ProduceProbe
from harness.plan.steps import Bind, Heal, Hold, InjectIsolate, InjectKill, InjectPause, InjectStall, Produce, Workload
from suites.building import (
    CONSUMER,
    LIVELY_MS,
    answers,
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

READER = WorkloadSpec(consumers=(CONSUMER.model_copy(update={"topic": "u"}),))
"""Nobody writes but the steps; a consumer sees whatever the high watermark lets it see."""


def cut_off(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Two replicas: what the old leader took alone stands at offsets that its successor gives to other records.

    At the end the successor dies and the old leader leads again: what it serves then is what it kept.
    """
    leader, successor, _ = cast(story, seed)
    steps = [
        *opening(leader, partition="u-0", work=False),
        Workload(as_="read", action="start"),
        Produce(as_="before", topic="u", records=50, expect=answers("LIVE-03", "served")),
        Bind(as_="old-broker-epoch", value=f"broker-epoch:{leader}"),
        Bind(as_="old-leader-epoch", value="leader-epoch:u-0"),
        InjectIsolate(as_="alone", nodes=leader, from_=("controllers", "brokers")),
        Produce(as_="unsafe", topic="u", node=leader, acks=1, records=10, timeout_ms=300),
        ListOffsetsProbe(as_="frozen", node=leader, topic="u", after=After(event="unsafe.ended"), timeout_ms=300),
        LeaderIs(as_="moved", partition="u-0", is_=successor, within_ms=LIVELY_MS, expect=must("D631-07")),
        # Sent to the successor itself: a deposed leader that serves on would hold a client that asks it for
        # metadata. The first ones may come before the successor knows that it leads.
        Produce(as_="beyond", topic="u", node=successor, records=30),
        Heal(as_="mend", fault="alone"),
        BrokerActive(as_="returned", node=leader, within_ms=LIVELY_MS, expect=must("K631-44")),
        IsrIs(as_="rejoined", partition="u-0", has=leader, within_ms=LIVELY_MS, expect=must("HW-04")),
        AlterIsrProbe(
            as_="old-change",
            node="active-controller",
            topic="u",
            broker=leader,
            broker_epoch="$old-broker-epoch",
            leader_epoch="$old-leader-epoch",
            isr=leader,
            expect=target.unless("AK-03", answers("D631-20", "error:77"), answers("D631-20", "error:74")),
            unchanged=("u-0", "brokers"),
        ),
        InjectKill(as_="successor-dies", nodes=successor),
        LeaderIs(as_="leads-again", partition="u-0", is_=leader, within_ms=LIVELY_MS, expect=must("ISR-06")),
        Produce(as_="after", topic="u", records=10, expect=answers("LIVE-03", "served")),
        *closing(work=False),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, successor], name="u", min_isr=1)],
        workload=READER,
        steps=steps,
        coverage=[
            FaultProven(fault="alone"),
            FaultProven(fault="successor-dies"),
            Acknowledged(by="unsafe", acks=1, after="alone.proven"),
            Acknowledged(by="beyond", acks="all", at_least=20),
            StepDone(step="old-change"),
        ],
    )


def paused(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Requests wait in the sockets of a stopped leader; when it wakes its lease is long over."""
    leader, *followers = cast(story, seed)
    timing = pace(target)
    serves_on = target.unless("AK-04", never_serves("K631-32"), answers("K631-32", "served"))
    steps = [
        *opening(leader),
        InjectStall(as_="deaf", from_=leader, to="controllers"),
        InjectPause(as_="sleep", nodes=leader),
        *(
            ProduceProbe(
                as_=f"asleep-{number}",
                node=leader,
                topic="t",
                acks=1,
                background=True,
                timeout_ms=3 * timing.lease_ms,
                after=After(event="sleep.proven"),
                expect=serves_on,
            )
            for number in (1, 2, 3)
        ),
        Hold(as_="lease-over", after="deaf.proven", ms=timing.lease_ms + 200),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("D631-07")),
        Heal(as_="wake", fault="sleep"),
        Heal(as_="mend", fault="deaf"),
        BrokerActive(as_="returned", node=leader, within_ms=LIVELY_MS, expect=must("K631-44")),
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
            FaultProven(fault="deaf"),
            FaultProven(fault="sleep"),
            *(StepDone(step=f"asleep-{number}") for number in (1, 2, 3)),
            Acknowledged(by="p1", acks="all", after="moved.ended"),
        ],
    )


STORIES = (
    Story(
        slug="lonely-leader",
        title="A leader cut from followers and controllers promises nothing and truncates what it took alone",
        requirements=(
            "HW-02",
            "HW-04",
            "D631-07",
            "D631-20",
            "ISR-04",
            "ISR-06",
            "K631-44",
            "LIVE-01",
            "LIVE-03",
        ),
        needs=frozenset({Capability.LINKS, Capability.KILL}),
        seconds=12,
        build=cut_off,
    ),
    Story(
        slug="sleeping-leader",
        title="A leader paused beyond its lease acknowledges nothing that was sent to it meanwhile",
        requirements=("K631-31", "K631-32", "K631-44", "D631-01", "D631-07", "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.LINKS, Capability.PAUSE}),
        seconds=9,
        build=paused,
    ),
)
