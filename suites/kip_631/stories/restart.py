"""Stories 4 and 15: kill -9 of a broker, and of everything, and a new start."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import Expect
from harness.plan.conditions import BrokerActive, BrokerEpochAbove
from harness.plan.injects import InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone, Timing
from harness.plan.probes import HeartbeatProbe
from harness.plan.steps import Bind, Heal, Step
from suites.building import (
    LIVELY_MS,
    answers,
    authority,
    cast,
    closing,
    compose,
    losses,
    must,
    never,
    opening,
    pace,
    topic,
    work_despite_losses,
)
from suites.story import EVERYWHERE, Story, TargetFacts

LEASE_MS = 20_000
"""Long enough for a process to be back inside the lease of its predecessor, also on a busy machine."""
WAITED_OUT_MS = 6000
"""The same, before it is stretched, where the predecessor's lease has to be waited out."""


def inside_the_lease(story: Story, target: TargetFacts, seed: int) -> Plan:
    leader, *followers = cast(story, seed)
    timing = pace(target, lease_ms=WAITED_OUT_MS if target.differs("AK-02") else LEASE_MS)
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        InjectKill(as_="kill", nodes=leader, back="running"),
        Heal(as_="restart", fault="kill"),
        *_reclaimed(target, leader, timing),
        BrokerActive(as_="active", node=leader, within_ms=LIVELY_MS, expect=must("K631-41")),
        HeartbeatProbe(
            as_="predecessor",
            node="active-controller",
            broker=leader,
            broker_epoch="$epoch",
            expect=answers("D631-19", "error:77"),
            unchanged=("brokers",),
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
            FaultProven(fault="kill"),
            StepDone(step="predecessor"),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
    )


def _reclaimed(target: TargetFacts, broker: str, timing: Timing) -> list[Step]:
    """Inside the predecessor's lease, which was renewed a heartbeat before the kill at the earliest; or not before."""
    inside_ms = timing.lease_ms * 2 // 3

    def above(name: str, within_ms: int, expect: Expect) -> BrokerEpochAbove:
        return BrokerEpochAbove(as_=name, node=broker, value="$epoch", within_ms=within_ms, expect=expect)

    if not target.differs("AK-02"):
        return [above("reclaimed", inside_ms, must("K631-41"))]
    waits = never("K631-41").model_copy(update={"difference": "AK-02"})
    return [above("waits", inside_ms, waits), above("reclaimed", LIVELY_MS, must("K631-41"))]


def everything(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Where followers truncate to their own high watermark the first that is back may have dropped what it had, and
    lead (LF-01)."""
    leader, *followers = cast(story, seed)
    steps = [
        *opening(leader),
        InjectKill(as_="kill", nodes=(authority(target), "brokers")),
        Heal(as_="restart", fault="kill"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[topic([leader, *followers])],
        steps=steps,
        coverage=[
            FaultProven(fault="kill"),
            Acknowledged(by="p1", acks="all", before="kill.injected"),
            Acknowledged(by="p1", acks="all", after="restart.ended"),
        ],
        workload=work_despite_losses(target),
        deviations=losses(target, "may"),
    )


STORIES = (
    Story(
        slug="restart-inside-the-lease",
        title="A broker killed with kill -9 reclaims its id at once",
        requirements=("K631-39", "K631-41", "D631-08", "D631-12", "D631-19", "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.KILL}),
        seconds=9,
        build=inside_the_lease,
    ),
    Story(
        slug="everything-killed",
        title="All nodes are killed at once and start again with everything that was acknowledged",
        requirements=("K631-11", "K631-15", "INT-06", "LD-43", "DLD-01", "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.KILL}),
        seconds=11,
        build=everything,
        dialects=EVERYWHERE,
    ),
)
