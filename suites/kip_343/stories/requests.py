"""Heartbeats and ISR changes that are wrong in one way: refused as the text says, before and after a new controller."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import ExpectOutcome, NodeRefs, Value
from harness.plan.conditions import (
    ActiveController,
    BrokerEpochAbove,
    BrokerFenced,
    IsrIs,
    LeaderIs,
    Registered,
    TopicCreatedThrough,
)
from harness.plan.injects import InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import IsrChangeProbe, MetadataHeartbeatProbe
from harness.plan.steps import Bind, Heal, Step
from suites.building import (
    LIVELY_MS,
    answers,
    cast,
    closing,
    compose,
    must,
    never,
    opening,
    pace,
    topic,
)
from suites.kip_343.story import kip_343
from suites.story import Story, TargetFacts

STATE = ("t-0", "u-0", "brokers")
INVALID_INCARNATION = "error:1343"


def build(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A broker is bounced first, so that what is sent in its name was right once; then the controller is."""
    leader, follower, controller = cast(story, seed)
    timing = pace(target)
    steps = [
        *opening(leader),
        Bind(as_="old", value=f"broker-epoch:{follower}"),
        Bind(as_="old-leader-epoch", value="leader-epoch:t-0"),
        InjectKill(as_="bounce", nodes=follower),
        Registered(as_="gone", node=follower, is_=False, within_ms=LIVELY_MS, expect=must("INT-43")),
        Heal(as_="back", fault="bounce"),
        BrokerEpochAbove(as_="anew", node=follower, value="$old", within_ms=LIVELY_MS, expect=must("K343-07")),
        IsrIs(as_="rejoined", partition="t-0", has=follower, within_ms=LIVELY_MS, expect=must("ISR-06")),
        *_heartbeats("", leader, follower),
        *_isr_changes("", leader, follower, controller),
        InjectKill(as_="failover", nodes=controller),
        ActiveController(as_="elected", is_not=controller, within_ms=LIVELY_MS, expect=must("INT-66")),
        # One full timeout of grace for those that the new controller has not heard yet.
        BrokerFenced(as_="dropped", node=leader, within_ms=timing.lease_ms // 2, expect=never("D343-05")),
        LeaderIs(as_="deposed", partition="t-0", is_not=leader, within_ms=200, expect=never("D343-05")),
        TopicCreatedThrough(as_="works", node=leader, within_ms=LIVELY_MS, expect=must("K343-15")),
        Heal(as_="restored", fault="failover"),
        IsrIs(as_="whole-again", partition="t-0", has=controller, within_ms=LIVELY_MS, expect=must("ISR-06")),
        _heartbeat("again-lower", follower, answers("D343-17", INVALID_INCARNATION), incarnation="$old"),
        _change("again-behind", leader, answers("D343-10", "error:6"), leader_epoch="$old-leader-epoch"),
        _change("again-nobody", leader, answers("K343-51", "error:42"), isr="none"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, follower, controller]), topic([leader, follower], name="u")],
        steps=steps,
        coverage=[
            FaultProven(fault="bounce"),
            FaultProven(fault="failover"),
            StepDone(step="again-nobody"),
            Acknowledged(by="p1", acks="all", after="elected.ended"),
        ],
    )


def _heartbeats(prefix: str, leader: str, follower: str) -> list[Step]:
    return [
        _heartbeat(f"{prefix}lower", follower, answers("K343-28", INVALID_INCARNATION), incarnation="$old"),
        # What it wants is not looked at: no leadership moves.
        _heartbeat(
            f"{prefix}lower-stopping",
            leader,
            answers("K343-30", INVALID_INCARNATION),
            incarnation="stale",
            state="stopping",
        ),
        MetadataHeartbeatProbe(
            as_=f"{prefix}elsewhere",
            node=leader,
            broker=follower,
            expect=answers("D343-13", "error:41"),
            unchanged=STATE,
        ),
        _heartbeat(f"{prefix}right", follower, answers("K343-42", "served")),
    ]


def _heartbeat(
    as_: str, broker: str, expect: ExpectOutcome, *, incarnation: Value = "current", state: str = "active"
) -> MetadataHeartbeatProbe:
    return MetadataHeartbeatProbe.model_validate(
        {
            "as": as_,
            "node": "active-controller",
            "broker": broker,
            "incarnation": incarnation,
            "state": state,
            "expect": expect,
            "unchanged": STATE,
        }
    )


def _isr_changes(prefix: str, leader: str, follower: str, controller: str) -> list[Step]:
    invalid = answers("D343-11", "error:42")
    stranger = (leader, follower, controller)
    return [
        _change(f"{prefix}not-controller", leader, answers("K343-46", "error:41"), node=follower),
        _change(f"{prefix}incarnation", leader, answers("K343-47", INVALID_INCARNATION), incarnation="stale"),
        _change(f"{prefix}not-leader", follower, answers("K343-50", "error:6")),
        _change(f"{prefix}behind", leader, answers("D343-10", "error:6"), leader_epoch="$old-leader-epoch"),
        _change(f"{prefix}nobody", leader, answers("K343-51", "error:42"), isr="none"),
        _change(f"{prefix}without-leader", leader, invalid, isr=(follower, controller)),
        _change(f"{prefix}stranger", leader, invalid, topic_="u", isr=stranger),
    ]


def _change(
    as_: str,
    broker: str,
    expect: ExpectOutcome,
    *,
    node: str = "active-controller",
    topic_: str = "t",
    incarnation: Value = "current",
    leader_epoch: Value = "current",
    isr: NodeRefs | None = None,
) -> IsrChangeProbe:
    return IsrChangeProbe(
        as_=as_,
        node=node,
        topic=topic_,
        broker=broker,
        incarnation=incarnation,
        leader_epoch=leader_epoch,
        isr=isr,
        expect=expect,
        unchanged=STATE,
    )


STORIES = (
    kip_343(
        "stale-heartbeats-and-isr-changes",
        "Heartbeats and ISR changes of the past, or not from the leader, are refused and change nothing",
        build,
        18,
        "K343-06",
        "K343-25",
        "K343-26",
        "K343-27",
        "K343-40",
        "K343-44",
        "K343-48",
        "K343-49",
        "ISR-04",
        "D343-01",
        needs={Capability.KILL},
    ),
)
