"""Two processes, one broker id: who has the znode, has the id."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import BrokerEpochAbove, Connected, NodeExited, Registered, WorkloadAcks
from harness.plan.injects import InjectCut, InjectDuplicate, InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.steps import Bind, Heal, Start, Step
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
from suites.story import Story, TargetFacts

REFUSED = 2
"""The reference's exit code for a node that cannot run as it was configured."""


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
)
