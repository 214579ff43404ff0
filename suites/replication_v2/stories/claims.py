"""Two processes, one broker id: who has the claim, has the id."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import BrokerEpochAbove, Connected, LeaderIs, NodeExited, Registered, WorkloadAcks
from harness.plan.injects import InjectCut, InjectDuplicate
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone
from harness.plan.probes import CreateTopicProbe, DeleteTopicProbe, MetadataProbe
from harness.plan.steps import Bind, Heal, Start
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
    never_serves,
    opening,
    pace,
    topic,
)
from suites.replication_v2.story import completed, replication_v2, says
from suites.story import Story, TargetFacts

CANNOT_RUN, LOST_ITS_ID = 2, 1
"""Exit codes of a broker."""


def taken(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The second process for a leader's id waits for the claim, takes nothing from the queue meanwhile, and ends."""
    elder, *others = cast(story, seed)
    newcomer = duplicate_of(elder, "empty")
    other = others[0]
    steps = [
        *opening(elder),
        Bind(as_="epoch", value=f"broker-epoch:{elder}"),
        Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        InjectDuplicate(as_="duplicate", node=newcomer.name),
        CreateTopicProbe(as_="create", node=other, topic="brief", timeout_ms=10_000, expect=answers("LD-58", "served")),
        DeleteTopicProbe(as_="delete", node=other, topic="brief", timeout_ms=10_000, expect=answers("LD-64", "served")),
        says("elder-drains", elder, completed("close-replica", "brief-0"), must("DLD-01")),
        MetadataProbe(as_="newcomer", node=newcomer.name, topic="t", timeout_ms=500, expect=never_serves("DLD-01")),
        Connected(as_="fetches", node=newcomer.name, to=other, within_ms=500, expect=never("DLD-01")),
        NodeExited(as_="refused", node=newcomer.name, code=CANNOT_RUN, within_ms=LIVELY_MS, expect=must("DLD-01")),
        says("drains", newcomer.name, "(received|completed) (start|close)-replica", never("DLD-01"), within_ms=200),
        BrokerEpochAbove(as_="ousted", node=elder, value="$epoch", within_ms=300, expect=never("DLD-01")),
        LeaderIs(as_="deposed", partition="t-0", is_not=elder, within_ms=300, expect=never("DLD-01")),
        *ask("elder", elder, answers("DLD-01", "served"), repeat=1),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="newcomer-is-gone", fault="duplicate"),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target, lease_ms=3000),
        topology=around_zookeeper(more=[newcomer]),
        topics=[topic([elder, *others])],
        steps=steps,
        coverage=[
            StepDone(step="refused"),
            StepDone(step="elder-metadata"),
            Acknowledged(by="p1", acks="all", after="refused.ended"),
        ],
    )


def after_expiry(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The elder is cut from ZooKeeper until its session is over and another has its id; when it hears of it, it ends.

    It comes back with what it had, once the other is gone.
    """
    leader, elder, other = cast(story, seed)
    newcomer = duplicate_of(elder, "empty")
    steps = [
        *opening(leader),
        Bind(as_="epoch", value=f"broker-epoch:{elder}"),
        InjectCut(as_="cut", from_=elder, to="zookeeper"),
        Registered(as_="gone", node=elder, is_=False, within_ms=LIVELY_MS, expect=must("LD-10")),
        InjectDuplicate(as_="duplicate", node=newcomer.name),
        BrokerEpochAbove(as_="taken", node=elder, value="$epoch", within_ms=LIVELY_MS, expect=must("DLD-01")),
        *ask("elder", elder, never_serves("DLD-15"), repeat=1),
        Heal(as_="mend", fault="cut"),
        NodeExited(as_="elder-ends", node=elder, code=LOST_ITS_ID, within_ms=LIVELY_MS, expect=must("DLD-01")),
        WorkloadAcks(as_="goes-on", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
        Heal(as_="newcomer-dies", fault="duplicate"),
        Registered(as_="free", node=elder, is_=False, within_ms=LIVELY_MS, expect=must("LD-10")),
        Start(as_="elder-starts", nodes=elder),
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=around_zookeeper(more=[newcomer]),
        topics=[topic([leader, elder, other])],
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="taken"),
            Acknowledged(by="p1", acks="all", after="newcomer-dies.ended"),
        ],
    )


STORIES = (
    replication_v2(
        "v2-duplicate-id",
        "A second process for a leader's id is refused: it leads nothing and takes nothing from the queue",
        taken,
        14,
        "LD-21",
        "LD-25",
        needs={Capability.DUPLICATE},
    ),
    replication_v2(
        "v2-duplicate-after-expiry",
        "A broker whose id was taken while its session was over ends when it hears of it",
        after_expiry,
        16,
        "DLD-16",
        needs={Capability.DUPLICATE, Capability.LINKS},
    ),
)
