"""ZooKeeper is silent for longer than a session."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.conditions import WorkloadAcks
from harness.plan.injects import InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.steps import Heal, Hold, Step
from suites.building import (
    BROKER_IDS,
    LIVELY_MS,
    around_zookeeper,
    ask,
    cast,
    closing,
    compose,
    losses,
    must,
    never_serves,
    node,
    opening,
    pace,
    topic,
    work_despite_losses,
)
from suites.replication_v2.story import replication_v2
from suites.story import Story, TargetFacts

ANSWERS_STILL_MS = 1000


def silent(story: Story, target: TargetFacts, seed: int) -> Plan:
    """No broker knows whether it still leads, so none serves; once ZooKeeper has a quorum again all go on.

    The server that is left answers for a moment before it knows that it has no quorum.
    """
    leader, *followers = cast(story, seed)
    timing = pace(target)
    over = After(event="lost.proven", plus_ms=timing.session_ms + ANSWERS_STILL_MS)
    asked: list[Step] = [
        step
        for broker in map(node, BROKER_IDS)
        for step in ask(f"alone-{broker}", broker, never_serves("DLD-15"), after=over, repeat=1)
    ]
    steps = [
        *opening(leader),
        InjectKill(as_="lost", nodes=("zk-1", "zk-2")),
        Hold(as_="session-over", after="lost.proven", ms=timing.session_ms + ANSWERS_STILL_MS),
        *asked,
        Heal(as_="mend", fault="lost"),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=around_zookeeper(servers=3),
        topics=[topic([leader, *followers])],
        steps=steps,
        workload=work_despite_losses(target),
        deviations=losses(target, "may"),
        coverage=[
            FaultProven(fault="lost"),
            StepDone(step=f"alone-{leader}-produce"),
            Acknowledged(by="p1", acks="all", after="mend.ended"),
        ],
    )


STORIES = (
    replication_v2(
        "v2-zookeeper-silent",
        "Without a quorum of ZooKeeper for longer than a session nobody serves; then all go on",
        silent,
        16,
        "DLD-16",
        needs={Capability.KILL},
    ),
)
