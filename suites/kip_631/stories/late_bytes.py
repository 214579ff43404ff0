"""Story 8: requests of a dead process arrive after its successor started."""

from __future__ import annotations

from collections.abc import Sequence

from faults.capabilities import Capability
from harness.plan.conditions import BrokerActive, BrokerEpochAbove, LeaderIs
from harness.plan.injects import InjectKill, InjectStall
from harness.plan.model import Acknowledged, Attempted, FaultProven, Plan, StepDone
from harness.plan.probes import ControlledShutdownProbe, HeartbeatProbe, MetadataHeartbeatProbe
from harness.plan.steps import Bind, Heal, Hold, Step
from suites.building import (
    LIVELY_MS,
    answers,
    asks_the_controller,
    cast,
    closing,
    compose,
    must,
    never,
    opening,
    pace,
    topic,
)
from suites.story import EVERYWHERE, Story, TargetFacts

LAG_MS = 600
"""Well below the lease: the leader finds its followers slow and asks for a smaller ISR while its links are stalled."""


def build(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The proxies hold what the leader sends: heartbeats, fetches of its own, an ISR change, replies to followers.

    The process dies, its successor starts behind the same stalled links, and only then do the bytes arrive.
    """
    leader, *followers = cast(story, seed)
    timing = pace(target, lag_ms=LAG_MS)
    moved = must(target.rule("D631-07", "INT-28", "LD-31"))
    registered = target.rule("D631-08", "K343-07", "DLD-02")
    calm = never(target.rule("D631-15", "D343-17", "DLD-01"))
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        InjectStall(as_="stall-out", from_=leader, to=heard_by(target, followers), streams="requests"),
        InjectStall(as_="stall-in", from_=tuple(followers), to=leader),
        Hold(as_="queued", after="stall-in.proven", ms=2 * timing.lag_ms),
        InjectKill(as_="kill", nodes=leader, back="running"),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=moved),
        Heal(as_="restart", fault="kill"),
        Heal(as_="release-out", fault="stall-out"),
        Heal(as_="release-in", fault="stall-in"),
        BrokerActive(
            as_="successor", node=leader, within_ms=LIVELY_MS, expect=must(target.rule("K631-39", "K343-29", "LD-27"))
        ),
        BrokerEpochAbove(as_="registered", node=leader, value="$epoch", within_ms=LIVELY_MS, expect=must(registered)),
        Bind(as_="successor-epoch", value=f"broker-epoch:{leader}"),
        BrokerEpochAbove(as_="ousted", node=leader, value="$successor-epoch", within_ms=timing.lease_ms, expect=calm),
        *_predecessor(target, leader),
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
            FaultProven(fault="stall-out"),
            FaultProven(fault="stall-in"),
            FaultProven(fault="kill"),
            Attempted(by="p1", after="stall-in.proven", before="kill.injected"),
            Acknowledged(by="p1", acks="all", after="release-out.ended"),
            StepDone(step="registered" if target.leader_driven else "predecessor"),
        ],
    )


def heard_by(target: TargetFacts, followers: Sequence[str]) -> tuple[str, ...]:
    """Around ZooKeeper the controller is one of the followers, and registration goes another way; what a leader says
    where there is no controller it says to ZooKeeper."""
    if target.leader_driven:
        return ("zookeeper", *followers)
    return tuple(followers) if target.around_zookeeper else ("controllers", *followers)


def _predecessor(target: TargetFacts, broker: str) -> list[Step]:
    """The dead process asks once more, in the words of the design, if it asks anybody."""
    return [] if target.leader_driven else [_asked(target, broker)]


def _asked(target: TargetFacts, broker: str) -> Step:
    common = {"as": "predecessor", "node": "active-controller", "broker": broker, "unchanged": ("brokers",)}
    if not target.around_zookeeper:
        asked = {"broker_epoch": "$epoch", "expect": answers("D631-19", "error:77")}
        return HeartbeatProbe.model_validate({**common, **asked})
    if asks_the_controller(target):
        asked = {"incarnation": "$epoch", "expect": answers("K343-28", "error:1343")}
        return MetadataHeartbeatProbe.model_validate({**common, **asked})
    asked = {"broker_epoch": "$epoch", "expect": answers("DINT-24", "error:77")}
    return ControlledShutdownProbe.model_validate({**common, **asked})


STORIES = (
    Story(
        slug="late-bytes",
        title="What a dead incarnation had sent arrives late and is refused",
        requirements=(
            "K631-39",
            "D631-07",
            "D631-08",
            "D631-15",
            "D631-19",
            "DV-08",
            "ISR-04",
            "LIVE-01",
            "LIVE-03",
        ),
        needs=frozenset({Capability.LINKS, Capability.KILL}),
        seconds=14,
        build=build,
        dialects=EVERYWHERE,
    ),
)
