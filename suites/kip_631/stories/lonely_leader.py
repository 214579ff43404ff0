"""Stories 13 and 14: a leader that lost everybody, and one that slept beyond its lease."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.conditions import BrokerActive, IsrIs, LeaderIs, MetadataFrom, Registered
from harness.plan.injects import InjectIsolate, InjectKill, InjectPause, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone, WorkloadSpec
from harness.plan.probes import AlterIsrProbe, ControlledShutdownProbe, IsrChangeProbe, ListOffsetsProbe, ProduceProbe
from harness.plan.steps import Bind, Heal, Hold, Produce, Step, Workload
from suites.building import (
    CONSUMER,
    LIVELY_MS,
    answers,
    asks_the_controller,
    authority,
    cast,
    closing,
    compose,
    must,
    never_serves,
    opening,
    pace,
    silence_ms,
    topic,
)
from suites.story import EVERYWHERE, Story, TargetFacts

READER = WorkloadSpec(consumers=(CONSUMER.model_copy(update={"topic": "u"}),))
"""Nobody writes but the steps; a consumer sees whatever the high watermark lets it see."""


def cut_off(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Two replicas: what the old leader took alone stands at offsets that its successor gives to other records.

    At the end the successor dies and the old leader leads again: what it serves then is what it kept.
    """
    leader, successor, _ = cast(story, seed)
    moved = must(target.rule("D631-07", "INT-28", "LD-31"))
    steps = [
        *opening(leader, partition="u-0", work=False),
        Workload(as_="read", action="start"),
        Produce(as_="before", topic="u", records=50, expect=answers("LIVE-03", "served")),
        Bind(as_="old-broker-epoch", value=f"broker-epoch:{leader}"),
        Bind(as_="old-leader-epoch", value="leader-epoch:u-0"),
        InjectIsolate(as_="alone", nodes=leader, from_=(authority(target), "brokers")),
        Produce(as_="unsafe", topic="u", node=leader, acks=1, records=10, timeout_ms=300),
        ListOffsetsProbe(as_="frozen", node=leader, topic="u", after=After(event="unsafe.ended"), timeout_ms=300),
        LeaderIs(as_="moved", partition="u-0", is_=successor, within_ms=LIVELY_MS, expect=moved),
        *_session_over(target, leader),
        *_leads(target, successor),
        # Sent to the successor itself, once it knows that it leads: a deposed leader that serves on would hold a client
        # that asks it for metadata.
        _knows("told", successor),
        Produce(as_="beyond", topic="u", node=successor, records=30),
        Heal(as_="mend", fault="alone"),
        BrokerActive(
            as_="returned", node=leader, within_ms=LIVELY_MS, expect=must(target.rule("K631-44", "INT-51", "DLD-16"))
        ),
        IsrIs(as_="rejoined", partition="u-0", has=leader, within_ms=LIVELY_MS, expect=must("HW-04")),
        *_old_change(target, leader),
        InjectKill(as_="successor-dies", nodes=successor),
        LeaderIs(as_="leads-again", partition="u-0", is_=leader, within_ms=LIVELY_MS, expect=must("ISR-06")),
        _knows("told-again", leader),
        Produce(as_="after", topic="u", records=10, idempotent=True, expect=answers("LIVE-03", "served")),
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
            *(() if target.leader_driven else (StepDone(step="old-change"),)),
        ],
    )


def _session_over(target: TargetFacts, leader: str) -> list[Step]:
    """With heartbeats leadership moves before the session ends; until it has ended the incarnation is still the one."""
    if not target.around_zookeeper:
        return []
    gone = must(target.rule("D631-07", "INT-43", "LD-10"))
    return [Registered(as_="session-over", node=leader, is_=False, within_ms=LIVELY_MS, expect=gone)]


def _knows(as_: str, leader: str) -> Step:
    return MetadataFrom(as_=as_, node=leader, partition="u-0", leader=leader, within_ms=LIVELY_MS)


def _leads(target: TargetFacts, successor: str) -> list[Step]:
    """A leader that nobody appoints serves when it has waited for who is alive, and has written who is in sync."""
    if not target.leader_driven:
        return []
    return [IsrIs(as_="leads", partition="u-0", is_=successor, within_ms=LIVELY_MS, expect=must("LD-53"))]


def _old_change(target: TargetFacts, leader: str) -> list[Step]:
    """What the old leader may have asked for when it was cut off, in the words of the design, if it asks anybody."""
    return [] if target.leader_driven else [_asked(target, leader)]


def _asked(target: TargetFacts, leader: str) -> Step:
    common = {
        "as": "old-change",
        "node": "active-controller",
        "broker": leader,
        "unchanged": ("u-0", "brokers"),
    }
    if not target.around_zookeeper:
        expect = target.unless("AK-03", answers("D631-20", "error:77"), answers("D631-20", "error:74"))
        epochs = {"broker_epoch": "$old-broker-epoch", "leader_epoch": "$old-leader-epoch"}
        return AlterIsrProbe.model_validate({**common, **epochs, "topic": "u", "isr": leader, "expect": expect})
    if asks_the_controller(target):
        expect = answers("K343-47", "error:1343")
        epochs = {"incarnation": "$old-broker-epoch", "leader_epoch": "$old-leader-epoch"}
        return IsrChangeProbe.model_validate({**common, **epochs, "topic": "u", "isr": leader, "expect": expect})
    expect = answers("DINT-24", "error:77")
    return ControlledShutdownProbe.model_validate({**common, "broker_epoch": "$old-broker-epoch", "expect": expect})


def paused(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Requests wait in the sockets of a stopped leader; when it wakes its lease is long over."""
    leader, *followers = cast(story, seed)
    timing = pace(target)
    moved = must(target.rule("D631-07", "INT-28", "LD-31"))
    silent = target.rule("K631-32", "K343-18", "DLD-15")
    serves_on = target.unless("AK-04", never_serves(silent), answers(silent, "served"))
    serves_on = target.unless("AZ-01", serves_on, answers(silent, "served"))
    deadline_ms = silence_ms(target, timing)
    steps = [
        *opening(leader),
        InjectStall(as_="deaf", from_=leader, to=_hears(target)),
        InjectPause(as_="sleep", nodes=leader),
        *(
            ProduceProbe(
                as_=f"asleep-{number}",
                node=leader,
                topic="t",
                acks=1,
                background=True,
                timeout_ms=3 * deadline_ms,
                after=After(event="sleep.proven"),
                expect=serves_on,
            )
            for number in (1, 2, 3)
        ),
        Hold(as_="lease-over", after="deaf.proven", ms=deadline_ms + 200),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=moved),
        Heal(as_="wake", fault="sleep"),
        Heal(as_="mend", fault="deaf"),
        BrokerActive(
            as_="returned", node=leader, within_ms=LIVELY_MS, expect=must(target.rule("K631-44", "INT-51", "DLD-16"))
        ),
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


def _hears(target: TargetFacts) -> tuple[str, ...]:
    if target.leader_driven:
        return ("zookeeper",)
    return ("zookeeper", "active-controller") if target.around_zookeeper else ("controllers",)


STORIES = (
    Story(
        slug="lonely-leader",
        title="A leader cut from followers and controllers promises nothing and truncates what it took alone",
        requirements=(
            "HW-02",
            "HW-04",
            "INT-30",
            "INT-54",
            "DINT-03",
            "LD-48",
            "LD-69",
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
        dialects=EVERYWHERE,
    ),
    Story(
        slug="sleeping-leader",
        title="A leader paused beyond its lease acknowledges nothing that was sent to it meanwhile",
        requirements=("K631-31", "K631-32", "K631-44", "D631-01", "D631-07", "K343-16", "DLD-16", "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.LINKS, Capability.PAUSE}),
        seconds=9,
        build=paused,
        dialects=EVERYWHERE,
    ),
)
