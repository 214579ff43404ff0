"""Story 10: the active controller dies, or stops for a long time, under load."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import ActiveController, TopicCreatedThrough
from harness.plan.injects import InjectKill, InjectPause
from harness.plan.model import Acknowledged, FaultProven, OutcomeSeen, Plan, StepDone
from harness.plan.probes import CreateTopicProbe, HeartbeatProbe, MetadataProbe
from harness.plan.steps import Bind, Heal, Hold, Step
from suites.building import (
    BROKER_IDS,
    LIVELY_MS,
    answers,
    cast,
    closing,
    compose,
    must,
    never_answers,
    never_serves,
    node,
    opening,
    pace,
    topic,
)
from suites.story import Story, TargetFacts

LEASE_MS = 8000
"""Longer than an election on a busy machine, too, so that leases can outlive it."""
BROKERS = tuple(map(node, BROKER_IDS))


def kill(story: Story, target: TargetFacts, seed: int) -> Plan:
    return _plan(story, target, seed, InjectKill(as_="fault", nodes="$old"), [])


def pause(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A stopped process still takes connections and requests; they wait for it until it wakes as a controller of the
    past, and may then neither be granted nor ever take effect."""
    late = CreateTopicProbe(
        as_="while-paused",
        node="$old",
        topic="late",
        background=True,
        timeout_ms=15_000,
        expect=never_serves("D631-23"),
    )
    woken: list[Step] = [
        Hold(as_="long", after="fault.proven", ms=pace(target, lease_ms=LEASE_MS).lease_ms),
        Heal(as_="wake", fault="fault"),
        CreateTopicProbe(
            as_="woken", node="$old", topic="woken", repeat=3, timeout_ms=500, expect=never_serves("D631-23")
        ),
    ]
    absent: list[Step] = [
        MetadataProbe(as_=f"no-{name}", node=BROKERS[0], topic=name, expect=answers("K631-16", "error:3"))
        for name in ("late", "woken")
    ]
    return _plan(story, target, seed, InjectPause(as_="fault", nodes="$old"), [late], woken, absent)


def _plan(
    story: Story,
    target: TargetFacts,
    seed: int,
    fault: Step,
    meanwhile: list[Step],
    woken: list[Step] | None = None,
    afterwards: list[Step] | None = None,
) -> Plan:
    leader, *others = cast(story, seed)
    steps = [
        *opening(leader),
        *(Bind(as_=f"epoch-{broker}", value=f"broker-epoch:{broker}") for broker in BROKERS),
        Bind(as_="old", node="active-controller"),
        CreateTopicProbe(as_="promised", node="$old", topic="promised", expect=answers("K631-17", "served")),
        fault,
        *meanwhile,
        ActiveController(as_="elected", is_not="$old", within_ms=LIVELY_MS, expect=must("LIVE-02")),
        *(
            HeartbeatProbe(
                as_=f"lease-{broker}",
                node="active-controller",
                broker=broker,
                broker_epoch=f"$epoch-{broker}",
                repeat=4,
                expect=never_answers("D631-04", "error:77"),
            )
            for broker in BROKERS
        ),
        *(
            TopicCreatedThrough(as_=f"create-{broker}", node=broker, within_ms=LIVELY_MS, expect=must("LIVE-02"))
            for broker in BROKERS
        ),
        *(
            MetadataProbe(as_=f"kept-{broker}", node=broker, topic="promised", expect=answers("K631-15", "served"))
            for broker in BROKERS
        ),
        *(woken or ()),
        *closing(),
        *(afterwards or ()),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, lease_ms=LEASE_MS),
        topics=[topic([leader, *others])],
        steps=steps,
        coverage=[
            FaultProven(fault="fault"),
            *(OutcomeSeen(step=f"lease-{broker}", outcome="served") for broker in BROKERS),
            StepDone(step=f"kept-{BROKERS[-1]}"),
            Acknowledged(by="p1", acks="all", after="fault.proven"),
        ],
    )


_REQUIREMENTS = (
    "K631-02",
    "K631-12",
    "K631-13",
    "K631-15",
    "K631-16",
    "K631-17",
    "K631-18",
    "K631-57",
    "D631-04",
    "D631-23",
    "LIVE-01",
    "LIVE-02",
    "LIVE-03",
)

STORIES = (
    Story(
        slug="active-controller-killed",
        title="kill -9 of the active controller: another takes over and nothing acknowledged is lost",
        requirements=_REQUIREMENTS,
        needs=frozenset({Capability.KILL}),
        seconds=11,
        build=kill,
    ),
    Story(
        slug="active-controller-paused",
        title="A long SIGSTOP of the active controller: what wakes up commits nothing",
        requirements=_REQUIREMENTS,
        needs=frozenset({Capability.PAUSE}),
        seconds=11,
        build=pause,
    ),
)
