"""Story 11: the active controller loses its peers and keeps its clients, or one leader of a partition."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import After, ExpectOutcome
from harness.plan.conditions import ActiveController, IsrIs, LeaderIs, TopicCreatedThrough, WorkloadAcks
from harness.plan.injects import InjectIsolate
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import AlterIsrProbe, CreateTopicProbe, HeartbeatProbe, MetadataProbe
from harness.plan.steps import Bind, Heal, Hold, Step
from suites.building import (
    BROKER_IDS,
    LIVELY_MS,
    answers,
    ask,
    cast,
    closing,
    compose,
    may_answer,
    must,
    never_serves,
    node,
    opening,
    pace,
    topic,
)
from suites.story import Story, TargetFacts

BROKERS = tuple(map(node, BROKER_IDS))
LEASE_MS = 4000
"""Where leases are to outlive the election."""
BELIEF_MS = 2000
"""The fetch timeout, after which a leader that hears no majority resigns: longer than a lease on the island."""


def from_peers(story: Story, target: TargetFacts, seed: int) -> Plan:
    leader, follower, other = cast(story, seed)
    steps = [
        *opening(leader),
        Bind(as_="old", node="active-controller"),
        InjectIsolate(as_="cut", nodes="$old", from_="controllers", how="stall"),
        *_powerless(target, leader, shrunk=(leader, follower)),
        ActiveController(as_="elected", is_not="$old", within_ms=LIVELY_MS, expect=must("LIVE-02")),
        _heartbeat("deposed", leader, never_serves("D631-03")),
        *(
            TopicCreatedThrough(as_=f"create-{broker}", node=broker, within_ms=LIVELY_MS, expect=must("LIVE-02"))
            for broker in BROKERS
        ),
        IsrIs(as_="not-shrunk", partition="t-0", has=other, within_ms=LIVELY_MS, expect=must("K631-16")),
        *closing(),
        MetadataProbe(as_="never-made", node=leader, topic="island", expect=answers("K631-16", "error:3")),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, lease_ms=LEASE_MS, fetch_ms=BELIEF_MS),
        topics=[topic([leader, follower, other])],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="shrink"),
            StepDone(step="elected"),
            StepDone(step="deposed"),
            Acknowledged(by="p1", acks="all", after="elected.ended"),
        ],
    )


def _powerless(target: TargetFacts, leader: str, shrunk: tuple[str, ...]) -> list[Step]:
    """The old one believes in itself for a while yet. What it grants alone counts for nothing, so it grants nothing.

    The renewal comes first and is brief: it would be given at once by a controller that does not ask its peers, and
    the old one resigns when it has not heard of them for the fetch timeout.
    """
    return [
        _renewal(target, leader),
        CreateTopicProbe(as_="create", node="$old", topic="island", timeout_ms=500, expect=never_serves("K631-17")),
        AlterIsrProbe(
            as_="shrink",
            node="$old",
            topic="t",
            broker=leader,
            isr=shrunk,
            timeout_ms=500,
            expect=never_serves("K631-17"),
        ),
    ]


def _renewal(target: TargetFacts, leader: str) -> HeartbeatProbe:
    claim = target.unless("AK-07", never_serves("D631-03"), may_answer("D631-03", "served"))
    return _heartbeat("renewal", leader, claim, timeout_ms=250)


def _heartbeat(name: str, broker: str, expect: ExpectOutcome, timeout_ms: int = 500) -> HeartbeatProbe:
    return HeartbeatProbe(as_=name, node="$old", broker=broker, timeout_ms=timeout_ms, expect=expect)


def island(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Leader and old active controller reach each other and clients, and nobody else."""
    leader, *followers = cast(story, seed)
    timing = pace(target, fetch_ms=BELIEF_MS)
    serves_on = target.unless("AK-04", never_serves("D631-03"), answers("D631-03", "served"))
    steps = [
        *opening(leader),
        Bind(as_="old", node="active-controller"),
        InjectIsolate(as_="cut", nodes=("$old", leader), from_=("controllers", "brokers"), how="stall"),
        _renewal(target, leader),
        Hold(as_="lease-over", after="cut.proven", ms=timing.lease_ms),
        *ask("marooned", leader, serves_on, after=After(event="cut.proven", plus_ms=timing.lease_ms)),
        ActiveController(as_="elected", is_not="$old", within_ms=LIVELY_MS, expect=must("LIVE-02")),
        LeaderIs(as_="moved", partition="t-0", is_not=leader, within_ms=LIVELY_MS, expect=must("D631-07")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="mend", fault="cut"),
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
            FaultProven(fault="cut"),
            StepDone(step="marooned-produce"),
            StepDone(step="renewal"),
            Acknowledged(by="p1", acks="all", after="moved.ended"),
        ],
    )


STORIES = (
    Story(
        slug="isolated-controller",
        title="An active controller cut from its peers creates no topic, changes no ISR and renews no lease",
        requirements=(
            "K631-14",
            "K631-16",
            "K631-17",
            "D631-03",
            "D631-23",
            "LIVE-01",
            "LIVE-02",
            "LIVE-03",
        ),
        needs=frozenset({Capability.LINKS}),
        seconds=12,
        build=from_peers,
    ),
    Story(
        slug="island",
        title="On an island of the old active controller and a leader no lease stays alive",
        requirements=("K631-31", "K631-32", "D631-01", "D631-03", "D631-07", "LIVE-01", "LIVE-02", "LIVE-03"),
        needs=frozenset({Capability.LINKS}),
        seconds=15,
        build=island,
    ),
)
