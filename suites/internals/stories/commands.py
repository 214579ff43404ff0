"""What a controller says to brokers: refused at the wrong epochs, harmless when said twice, patient when unheard."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import ExpectOutcome
from harness.plan.conditions import (
    ActiveController,
    BrokerActive,
    BrokerEpochAbove,
    IsrIs,
    MetadataFrom,
    Registered,
    WorkloadAcks,
)
from harness.plan.injects import InjectKill, InjectStall
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import (
    ControlledShutdownProbe,
    CreateTopicProbe,
    LeaderAndIsrProbe,
    MetadataProbe,
    ProduceProbe,
    StopReplicaProbe,
    UpdateMetadataProbe,
)
from harness.plan.steps import Bind, Heal, Hold, Step
from suites.building import (
    LIVELY_MS,
    answers,
    cast,
    closing,
    compose,
    may_answer,
    must,
    never,
    opening,
    pace,
    topic,
)
from suites.internals.story import internals
from suites.story import Story, TargetFacts

STATE = ("t-0", "brokers")


def stale(story: Story, target: TargetFacts, seed: int) -> Plan:
    """First all epochs move, so that what is sent was right once: the leader's, a broker's, the controller's."""
    leader, follower, controller = cast(story, seed)
    steps = [
        *opening(leader),
        Bind(as_="broker-epoch", value=f"broker-epoch:{follower}"),
        Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        InjectKill(as_="bounce", nodes=follower),
        Registered(as_="gone", node=follower, is_=False, within_ms=LIVELY_MS, expect=must("INT-43")),
        Heal(as_="back", fault="bounce"),
        BrokerEpochAbove(as_="anew", node=follower, value="$broker-epoch", within_ms=LIVELY_MS, expect=must("DINT-09")),
        IsrIs(as_="rejoined", partition="t-0", has=follower, within_ms=LIVELY_MS, expect=must("INT-26")),
        *_three("controller", follower, answers("DINT-05", "error:11"), controller_epoch="stale"),
        *_three("broker", follower, answers("DINT-06", "error:77"), broker_epoch="$broker-epoch"),
        *_old_tenure(follower),
        ControlledShutdownProbe(
            as_="shutdown-stale",
            node="active-controller",
            broker=follower,
            broker_epoch="$broker-epoch",
            expect=answers("DINT-24", "error:77"),
            unchanged=STATE,
        ),
        ControlledShutdownProbe(
            as_="shutdown-elsewhere",
            node=leader,
            broker=follower,
            expect=answers("INT-01", "error:[11, 41]"),
            unchanged=STATE,
        ),
        *_twice(follower),
        Bind(as_="controller-epoch", value="controller-epoch"),
        InjectKill(as_="failover", nodes=controller),
        ActiveController(as_="elected", is_not=controller, within_ms=LIVELY_MS, expect=must("INT-66")),
        BrokerActive(as_="known", node=follower, within_ms=LIVELY_MS, expect=must("INT-64")),
        Heal(as_="restored", fault="failover"),
        IsrIs(as_="whole-again", partition="t-0", has=controller, within_ms=LIVELY_MS, expect=must("ISR-06")),
        *_three("past", follower, answers("DINT-05", "error:11"), controller_epoch="$controller-epoch"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="bounce"),
            FaultProven(fault="failover"),
            StepDone(step="past-stop-replica"),
            Acknowledged(by="p1", acks="all", after="elected.ended"),
        ],
    )


def _three(
    name: str,
    broker: str,
    expect: ExpectOutcome,
    *,
    controller_epoch: str = "current",
    broker_epoch: str = "current",
) -> list[Step]:
    """All three commands, each of which would make a difference if it were obeyed."""
    return [
        LeaderAndIsrProbe(
            as_=f"{name}-leader-and-isr",
            node=broker,
            topic="t",
            leader=broker,
            controller_epoch=controller_epoch,
            broker_epoch=broker_epoch,
            expect=expect,
            unchanged=STATE,
        ),
        StopReplicaProbe(
            as_=f"{name}-stop-replica",
            node=broker,
            topic="t",
            delete=True,
            controller_epoch=controller_epoch,
            broker_epoch=broker_epoch,
            expect=expect,
            unchanged=STATE,
        ),
        UpdateMetadataProbe(
            as_=f"{name}-update-metadata",
            node=broker,
            controller_epoch=controller_epoch,
            broker_epoch=broker_epoch,
            expect=expect,
            unchanged=STATE,
        ),
        _leads_not(f"{name}-leads-not", broker, expect.requirement),
    ]


def _leads_not(as_: str, broker: str, requirement: str) -> Step:
    return ProduceProbe(as_=as_, node=broker, topic="t", acks=1, expect=answers(requirement, "error:6"))


def _old_tenure(broker: str) -> list[Step]:
    """Of an older leader epoch: the broker may say so or pass it over, and stays what it is."""
    return [
        LeaderAndIsrProbe(
            as_="tenure-leader-and-isr",
            node=broker,
            topic="t",
            leader=broker,
            leader_epoch="$leader-epoch",
            unchanged=STATE,
            expect=may_answer("DINT-07", "refused"),
        ),
        StopReplicaProbe(
            as_="tenure-stop-replica",
            node=broker,
            topic="t",
            delete=True,
            leader_epoch="$leader-epoch",
            unchanged=STATE,
            expect=may_answer("DINT-07", "refused"),
        ),
        _leads_not("tenure-leads-not", broker, "DINT-07"),
    ]


def _twice(broker: str) -> list[Step]:
    """What is so already, said again."""
    return [
        LeaderAndIsrProbe(
            as_="twice-leader-and-isr",
            node=broker,
            topic="t",
            repeat=2,
            unchanged=STATE,
            expect=may_answer("INT-21", "served"),
        ),
        UpdateMetadataProbe(
            as_="twice-update-metadata", node=broker, repeat=2, unchanged=STATE, expect=answers("INT-21", "served")
        ),
        _leads_not("twice-leads-not", broker, "INT-21"),
    ]


def stalled_channel(story: Story, target: TargetFacts, seed: int) -> Plan:
    """What the controller says to one broker hangs for longer than its socket timeout; the others hear it at once."""
    leader, unheard, controller = cast(story, seed)
    timing = pace(target)
    steps = [
        *opening(leader),
        InjectStall(as_="stall", from_=controller, to=unheard),
        CreateTopicProbe(as_="news", node=controller, topic="news", timeout_ms=9000),
        MetadataFrom(as_="others-know", node=leader, partition="news-0", within_ms=2000, expect=must("INT-14")),
        MetadataProbe(as_="it-does-not", node=unheard, topic="news", expect=answers("INT-15", "error:3")),
        Registered(as_="given-up", node=unheard, is_=False, within_ms=3 * timing.session_ms, expect=never("INT-43")),
        Hold(as_="long", after="stall.proven", ms=6000),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="mend", fault="stall"),
        *closing(),
        MetadataProbe(as_="knows-at-last", node=unheard, topic="news", expect=answers("INT-18", "served")),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, unheard, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="stall"),
            StepDone(step="it-does-not"),
            StepDone(step="knows-at-last"),
            Acknowledged(by="p1", acks="all", after="stall.proven", before="mend.begun"),
        ],
    )


STORIES = (
    internals(
        "stale-commands",
        "Commands at old epochs of controller, broker and leader are refused and change nothing",
        stale,
        15,
        "INT-20",
        "INT-22",
        "INT-23",
        "INT-24",
        needs={Capability.KILL},
    ),
    internals(
        "stalled-channel",
        "A connection that hangs is no death, and delays nobody else",
        stalled_channel,
        14,
        "INT-12",
        "INT-16",
        "INT-43",
        needs={Capability.LINKS},
    ),
)
