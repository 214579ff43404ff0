"""ZooKeeper itself loses its leader, or its quorum, or has a leader that nobody hears."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import NodeRefs
from harness.plan.conditions import BrokerEpochAbove, NodeExited, Registered, TopicCreatedThrough, WorkloadAcks
from harness.plan.injects import InjectKill, InjectOneWay
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import CreateTopicProbe
from harness.plan.steps import Bind, Heal, Hold, Step
from suites.building import (
    LIVELY_MS,
    around_zookeeper,
    cast,
    closing,
    compose,
    must,
    never,
    never_serves,
    opening,
    pace,
    topic,
)
from suites.internals.story import internals
from suites.story import AROUND_ZOOKEEPER, LEADER_DRIVEN, Story, TargetFacts

SESSION_MS = 6000
"""Long enough for an ensemble to come back inside of it, also on a busy machine."""


def without_quorum(story: Story, target: TargetFacts, seed: int) -> Plan:
    controller = cast(story, seed)[-1]
    meanwhile: list[Step] = [
        CreateTopicProbe(
            as_="nothing-changes",
            node=controller,
            topic="impossible",
            timeout_ms=700,
            expect=never_serves("DLD-18" if target.leader_driven else "DINT-14"),
        ),
        Hold(as_="a-while", after="lost.proven", ms=1500),
        Heal(as_="mend", fault="lost"),
    ]
    return _plan(story, target, seed, ("zk-1", "zk-2"), meanwhile)


def leader_killed(story: Story, target: TargetFacts, seed: int) -> Plan:
    return _plan(story, target, seed, "zookeeper-leader", [])


def leader_unheard(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The leader of the ensemble hears no clients of the others' any more, and before it steps down it takes their
    sessions for expired. Whoever asks it then is told so, while the next leader still keeps the session, and its znodes
    (KAFKA-7165)."""
    cast_ = cast(story, seed)
    leader, _, controller = cast_
    keeps = "DLD-16" if target.leader_driven else "INT-51"
    timing = pace(target)
    steps = [
        *opening(leader),
        InjectOneWay(as_="unheard", from_="zookeeper-leader", to="zookeeper", how="blackhole"),
        Hold(as_="a-while", after="unheard.proven", ms=timing.session_ms * 7 // 4),
        Heal(as_="mend", fault="unheard"),
        *(NodeExited(as_=f"lives-{broker}", node=broker, within_ms=400, expect=never(keeps)) for broker in cast_),
        *(
            Registered(as_=f"back-{broker}", node=broker, is_=True, within_ms=LIVELY_MS, expect=must(keeps))
            for broker in cast_
        ),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=around_zookeeper(controller=None if target.leader_driven else controller, servers=3),
        topics=[topic(cast_)],
        steps=steps,
        coverage=[FaultProven(fault="unheard"), Acknowledged(by="p1", acks="all", after="mend.ended")],
    )


def _plan(story: Story, target: TargetFacts, seed: int, killed: NodeRefs, meanwhile: list[Step]) -> Plan:
    """Brokers serve on, and none of them loses its session."""
    cast_ = cast(story, seed)
    works = "DLD-18" if target.leader_driven else "INT-61"
    serves_on = "DLD-15" if target.leader_driven else "DINT-16"
    leader, follower, controller = cast_
    steps = [
        *opening(leader),
        *(Bind(as_=f"epoch-{broker}", value=f"broker-epoch:{broker}") for broker in cast_),
        InjectKill(as_="lost", nodes=killed),
        WorkloadAcks(as_="serves-on", more=50, within_ms=LIVELY_MS, expect=must(serves_on)),
        *meanwhile,
        TopicCreatedThrough(as_="changes-again", node=follower, within_ms=LIVELY_MS, expect=must(works)),
        *(
            BrokerEpochAbove(
                as_=f"kept-{broker}", node=broker, value=f"$epoch-{broker}", within_ms=400, expect=never(serves_on)
            )
            for broker in cast_
        ),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, session_ms=SESSION_MS),
        topology=around_zookeeper(controller=None if target.leader_driven else controller, servers=3),
        topics=[topic([leader, follower, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="lost"),
            StepDone(step="changes-again"),
            Acknowledged(by="p1", acks="all", after="lost.proven", before="changes-again.ended"),
        ],
    )


STORIES = (
    internals(
        "ensemble-without-quorum",
        "While ZooKeeper has no quorum brokers serve on and nothing changes; sessions outlive it",
        without_quorum,
        14,
        "DINT-14",
        "DINT-16",
        needs={Capability.KILL},
        dialects=AROUND_ZOOKEEPER | LEADER_DRIVEN,
    ),
    internals(
        "zookeeper-leader-killed",
        "kill -9 of ZooKeeper's leader: every session goes on with another server",
        leader_killed,
        12,
        "INT-61",
        "DINT-15",
        needs={Capability.KILL},
        dialects=AROUND_ZOOKEEPER | LEADER_DRIVEN,
    ),
    internals(
        "zookeeper-leader-unheard",
        "ZooKeeper's leader is heard by nobody, and calls sessions expired that the others keep",
        leader_unheard,
        14,
        "INT-51",
        needs={Capability.LINKS},
        levels=("base", "plain"),  # above `base` a broker waits whoever has its id
        dialects=AROUND_ZOOKEEPER | LEADER_DRIVEN,
    ),
)
