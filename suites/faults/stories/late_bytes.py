"""What a process had sent arrives when it is dead, and another runs under its name."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import BrokerActive, BrokerEpochAbove, LeaderIs
from harness.plan.injects import InjectLateBytes
from harness.plan.model import Acknowledged, FaultProven, Plan
from harness.plan.steps import Bind, Heal
from suites.building import (
    LIVELY_MS,
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
from suites.faults.story import everywhere
from suites.story import Story, TargetFacts


def build(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower's fetches, and what it says to those who decide, are held from before its end to after its restart."""
    leader, follower, other = cast(story, seed)
    timing = pace(target)
    to = (leader, other) if target.around_zookeeper else ("controllers", leader)
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{follower}"),
        InjectLateBytes(as_="late", node=follower, to=to, queued_ms=timing.heartbeat_ms),
        Heal(as_="arrive", fault="late"),
        BrokerActive(as_="successor", node=follower, within_ms=LIVELY_MS, expect=must("DV-08")),
        BrokerEpochAbove(as_="registered", node=follower, value="$epoch", within_ms=LIVELY_MS, expect=must("DV-08")),
        Bind(as_="successor-epoch", value=f"broker-epoch:{follower}"),
        BrokerEpochAbove(
            as_="ousted",
            node=follower,
            value="$successor-epoch",
            within_ms=2 * timing.lease_ms,
            expect=never("DV-08"),
        ),
        LeaderIs(as_="leads-on", partition="t-0", is_=leader, within_ms=LIVELY_MS, expect=must("DV-08")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topics=[topic([leader, follower, other])],
        workload=work_despite_losses(target),
        steps=steps,
        deviations=losses(target, "may"),
        coverage=[FaultProven(fault="late"), Acknowledged(by="p1", acks="all", after="arrive.ended")],
    )


STORIES = (
    everywhere(
        "requests-of-the-dead",
        "Requests of a dead process arrive beside those of its successor, and change nothing",
        build,
        12,
        "DV-08",
        needs={Capability.HELD_BYTES},
    ),
)
