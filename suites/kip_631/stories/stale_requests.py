"""Story 7: heartbeats, ISR changes and fetches with epochs of the past are refused and change nothing."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import ExpectOutcome, NodeRefs, Value
from harness.plan.conditions import ActiveController, BrokerActive, Converged, LeaderIs, TopicCreatedThrough
from harness.plan.injects import InjectCut, InjectKill
from harness.plan.model import FaultProven, Plan, StepDone
from harness.plan.probes import AlterIsrProbe, HeartbeatProbe, ReplicaFetchProbe
from harness.plan.steps import Bind, Heal, Step
from suites.building import (
    BROKER_IDS,
    LIVELY_MS,
    answers,
    cast,
    closing,
    compose,
    must,
    node,
    opening,
    pace,
    topic,
)
from suites.story import Story, TargetFacts

AHEAD = 1000
"""A leader epoch that no partition of a short run reaches."""
LEASE_MS = 6000
"""Longer than an election on a busy machine, too, so that the leases of the brokers outlive the failover."""


def build(story: Story, target: TargetFacts, seed: int) -> Plan:
    """First the epochs move, so that what is sent afterwards was valid once."""
    deposed, *others = cast(story, seed)
    steps = [
        *opening(deposed),
        Bind(as_="old-broker-epoch", value=f"broker-epoch:{deposed}"),
        Bind(as_="old-leader-epoch", value="leader-epoch:t-0"),
        InjectCut(as_="away", from_=deposed, to="controllers"),
        LeaderIs(as_="moved", partition="t-0", is_not=deposed, within_ms=LIVELY_MS, expect=must("D631-07")),
        _alter_isr("fenced-member", answers("D631-20", "error:107"), isr=tuple(map(node, BROKER_IDS))),
        Heal(as_="mend", fault="away"),
        BrokerActive(as_="returned", node=deposed, within_ms=LIVELY_MS, expect=must("K631-44")),
        Converged(as_="calm", within_ms=LIVELY_MS, expect=must("LIVE-01")),
        *_requests("", target, deposed),
        Bind(as_="old-active", node="active-controller"),
        InjectKill(as_="failover", nodes="$old-active"),
        ActiveController(as_="elected", is_not="$old-active", within_ms=LIVELY_MS, expect=must("LIVE-02")),
        TopicCreatedThrough(as_="working-again", node=deposed, within_ms=LIVELY_MS, expect=must("LIVE-02")),
        *_requests("again-", target, deposed),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, lease_ms=LEASE_MS),
        topics=[topic([deposed, *others])],
        steps=steps,
        coverage=[
            FaultProven(fault="away"),
            FaultProven(fault="failover"),
            StepDone(step="fenced-member"),
            StepDone(step="fetch-ahead"),
            StepDone(step="again-fetch-ahead"),
        ],
    )


def _requests(prefix: str, target: TargetFacts, deposed: str) -> list[Step]:
    """Each wrong in one way only. Where a fence leaves the broker epoch alone (AK-03) one below it is stale."""
    old_epoch: Value = "stale" if target.differs("AK-03") else "$old-broker-epoch"
    heartbeat = HeartbeatProbe(
        as_=f"{prefix}heartbeat",
        node="active-controller",
        broker=deposed,
        broker_epoch=old_epoch,
        expect=answers("D631-19", "error:77"),
        unchanged=("brokers", "t-0"),
    )

    def refused(
        name: str, error: int, *, broker: str = "leader:t-0", epoch: Value = "current", tenure: Value = "current"
    ) -> AlterIsrProbe:
        return _alter_isr(
            f"{prefix}{name}",
            answers("D631-20", f"error:{error}"),
            broker=broker,
            broker_epoch=epoch,
            leader_epoch=tenure,
        )

    def fetch(name: str, requirement: str, outcome: str, *, epoch: Value = "current", tenure: Value) -> Step:
        return ReplicaFetchProbe(
            as_=f"{prefix}fetch-{name}",
            node="leader:t-0",
            topic="t",
            broker=deposed,
            broker_epoch=epoch,
            leader_epoch=tenure,
            expect=answers(requirement, outcome),
            unchanged=("t-0",),
        )

    return [
        heartbeat,
        refused("broker-epoch", 77, epoch="stale"),
        refused("leader-ahead", 41, tenure=AHEAD),
        refused("leader-behind", 74, tenure="$old-leader-epoch"),
        refused("not-leader", 42, broker=deposed),
        _alter_isr(f"{prefix}version-behind", answers("D631-20", "error:95"), version="stale"),
        _alter_isr(f"{prefix}without-leader", answers("D631-20", "error:42"), isr="followers:t-0"),
        fetch("broker-epoch", "D631-16", "refused", epoch=old_epoch, tenure="current"),
        fetch("behind", "D631-21", "error:74", tenure="$old-leader-epoch"),
        fetch("ahead", "D631-21", "error:75", tenure=AHEAD),
    ]


def _alter_isr(
    name: str,
    expect: ExpectOutcome,
    *,
    broker: str = "leader:t-0",
    broker_epoch: Value = "current",
    leader_epoch: Value = "current",
    version: Value = "current",
    isr: NodeRefs | None = None,
) -> AlterIsrProbe:
    return AlterIsrProbe(
        as_=name,
        node="active-controller",
        topic="t",
        broker=broker,
        broker_epoch=broker_epoch,
        leader_epoch=leader_epoch,
        version=version,
        isr=isr,
        expect=expect,
        unchanged=("t-0", "brokers"),
    )


STORIES = (
    Story(
        slug="stale-requests",
        title="Stale heartbeats, ISR changes and fetches are refused and change nothing",
        requirements=(
            "K631-27",
            "K631-40",
            "D631-16",
            "D631-17",
            "D631-19",
            "D631-20",
            "D631-21",
            "ISR-04",
            "D631-07",
            "K631-44",
            "LIVE-01",
            "LIVE-02",
            "LIVE-03",
        ),
        needs=frozenset({Capability.LINKS, Capability.KILL}),
        seconds=12,
        build=build,
    ),
)
