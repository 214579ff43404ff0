"""Two processes, one broker id: who has the znode, has the id."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import Said
from harness.plan.conditions import BrokerEpochAbove, Connected, NodeExited, Registered, WorkloadAcks
from harness.plan.injects import InjectCut, InjectDuplicate, InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.steps import Bind, Heal, Hold, Start, Step
from suites.building import (
    LIVELY_MS,
    answers,
    around_zookeeper,
    ask,
    cast,
    closing,
    compose,
    duplicate_of,
    must,
    never,
    opening,
    pace,
    topic,
)
from suites.internals.story import internals
from suites.story import AROUND_ZOOKEEPER, LEADER_DRIVEN, Story, TargetFacts

REFUSED = 2
"""The reference's exit code for a node that cannot run as it was configured."""
SESSION_MS = 6000
"""Long enough for a broker to be killed, started and cut off inside of it, also on a busy machine."""
GRACE_MS = 1000
"""How much longer than a session a broker waits for one that has its id."""


def at_the_znode(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The elder is a follower: a process in its id that fetched would be taken for it."""
    leader, elder, controller = cast(story, seed)
    newcomer = duplicate_of(elder, "empty")
    timing = pace(target, lease_ms=3000)
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{elder}"),
        InjectDuplicate(as_="duplicate", node=newcomer.name),
        Connected(as_="fetches", node=newcomer.name, to=leader, within_ms=2000, expect=never("DINT-26")),
        *_ends(target, newcomer.name),
        BrokerEpochAbove(as_="ousted", node=elder, value="$epoch", within_ms=500, expect=never("DINT-17")),
        *ask("elder", elder, answers("INT-50", "served"), repeat=1)[:1],
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="newcomer-is-gone", fault="duplicate"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=around_zookeeper(controller=controller, more=[newcomer]),
        topics=[topic([leader, elder, controller])],
        steps=steps,
        coverage=[
            StepDone(step="refused"),
            StepDone(step="elder-metadata"),
            Acknowledged(by="p1", acks="all", after="refused.ended"),
        ],
    )


def _ends(target: TargetFacts, newcomer: str) -> list[Step]:
    """After one session timeout of waiting, by an exit code that says why."""
    expect = target.unless("AZ-02", must("DINT-17"), must("DINT-17"))
    code = 1 if target.differs("AZ-02") else REFUSED
    return [NodeExited(as_="refused", node=newcomer, code=code, within_ms=LIVELY_MS, expect=expect)]


def taken_after_expiry(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The elder is cut from ZooKeeper until its session is over and another has its id; then it sees that."""
    leader, elder, controller = cast(story, seed)
    newcomer = duplicate_of(elder, "empty")
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{elder}"),
        InjectCut(as_="cut", from_=elder, to="zookeeper"),
        Registered(as_="gone", node=elder, is_=False, within_ms=LIVELY_MS, expect=must("INT-43")),
        InjectDuplicate(as_="duplicate", node=newcomer.name),
        BrokerEpochAbove(as_="taken", node=elder, value="$epoch", within_ms=LIVELY_MS, expect=must("INT-50")),
        Heal(as_="mend", fault="cut"),
        *_gives_up(target, elder),
        Heal(as_="newcomer-dies", fault="duplicate"),
        Registered(as_="free", node=elder, is_=False, within_ms=LIVELY_MS, expect=must("INT-43")),
        *_started_again(target, elder),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=around_zookeeper(controller=controller, more=[newcomer]),
        topics=[topic([leader, elder, controller])],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="taken"),
            Acknowledged(by="p1", acks="all", after="newcomer-dies.ended"),
        ],
    )


def _gives_up(target: TargetFacts, elder: str) -> list[Step]:
    if not target.differs("AZ-03"):
        return [NodeExited(as_="elder-ends", node=elder, within_ms=LIVELY_MS, expect=must("DINT-18"))]
    stays = never("DINT-18").model_copy(update={"difference": "AZ-03"})
    return [NodeExited(as_="elder-ends", node=elder, within_ms=5000, expect=stays)]


def _started_again(target: TargetFacts, elder: str) -> list[Step]:
    """Where it does not end by itself (AZ-03) it does not come back by itself either, and is restarted by hand."""
    if not target.differs("AZ-03"):
        return [Start(as_="elder-starts", nodes=elder)]
    outside = never("INT-51").model_copy(update={"difference": "AZ-03"})
    return [
        Registered(as_="still-outside", node=elder, is_=True, within_ms=3000, expect=outside),
        InjectKill(as_="operator", nodes=elder),
        Heal(as_="elder-starts", fault="operator"),
    ]


def hears_nothing(story: Story, target: TargetFacts, seed: int) -> Plan:
    """Started again inside the session of its own dead process it waits for that to end, and then cannot see it."""
    broker, follower, controller = cast(story, seed)
    waits = "DLD-01" if target.leader_driven else "DINT-17"
    timing = pace(target, session_ms=SESSION_MS)
    steps = [
        *opening(broker),
        InjectKill(as_="crash", nodes=broker, back="running"),
        Heal(as_="restart", fault="crash"),
        InjectCut(
            as_="unheard",
            from_=broker,
            to="zookeeper",
            when=Said(says="this process waits for that to end", node=broker),
        ),
        Hold(as_="past-its-patience", after="unheard.proven", ms=timing.session_ms + 2 * GRACE_MS),
        NodeExited(as_="gives-up", node=broker, within_ms=400, expect=never(waits)),
        Heal(as_="mend", fault="unheard"),
        Registered(as_="has-its-id", node=broker, is_=True, within_ms=LIVELY_MS, expect=must(waits)),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=around_zookeeper(controller=None if target.leader_driven else controller),
        topics=[topic([broker, follower, controller])],
        steps=steps,
        coverage=[FaultProven(fault="unheard"), Acknowledged(by="p1", acks="all", after="mend.ended")],
    )


STORIES = (
    internals(
        "duplicate-id-at-the-znode",
        "A second process with a live broker's id cannot register, and counts as nothing",
        at_the_znode,
        12,
        "DINT-09",
        needs={Capability.DUPLICATE},
    ),
    internals(
        "id-taken-after-expiry",
        "Without incarnations a broker whose id was taken while its session was over ends",
        taken_after_expiry,
        15,
        "INT-63",
        needs={Capability.DUPLICATE, Capability.LINKS},
        levels=("base",),
    ),
    internals(
        "waits-for-its-id-unheard",
        "A broker that waits for its id and hears nothing of ZooKeeper waits on, and takes what it finds free",
        hears_nothing,
        20,
        "DINT-17",
        needs={Capability.KILL, Capability.LINKS},
        levels=("heartbeats", "plain"),  # at the others shipped Kafka waits for nobody (AZ-02)
        dialects=AROUND_ZOOKEEPER | LEADER_DRIVEN,
    ),
)
