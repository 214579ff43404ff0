"""Two processes, one broker id, told apart by their incarnations: the newer wins, the older is nobody."""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.conditions import (
    ActiveController,
    BrokerActive,
    BrokerEpochAbove,
    IsrIs,
    LeaderIs,
    Registered,
    TopicCreatedThrough,
)
from harness.plan.injects import InjectCut, InjectDuplicate, InjectKill
from harness.plan.model import Acknowledged, FaultProven, Plan, StepDone, WorkloadSpec
from harness.plan.probes import IsrChangeProbe, MetadataHeartbeatProbe, ReplicaFetchProbe
from harness.plan.steps import Bind, Heal, Hold, Produce, Step
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
from suites.kip_343.story import kip_343
from suites.story import Story, TargetFacts

INVALID_INCARNATION = "error:1343"


def newer_wins(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The elder's session ends while it cannot see that; another process registers its id; then the elder is back."""
    leader, elder, controller = cast(story, seed)
    newcomer = duplicate_of(elder, "empty")
    timing = pace(target)
    steps = [
        *opening(leader),
        *_taken(elder, newcomer.name),
        BrokerActive(as_="serves", node=newcomer.name, within_ms=LIVELY_MS, expect=must("D343-17")),
        IsrIs(as_="replicates", partition="t-0", has=elder, within_ms=LIVELY_MS, expect=must("ISR-06")),
        Heal(as_="mend", fault="cut"),
        Hold(as_="noticed", after="taken.ended", ms=timing.fence_ms),
        *_refused("first", leader, elder),
        InjectKill(as_="failover", nodes=controller),
        ActiveController(as_="elected", is_not=controller, within_ms=LIVELY_MS, expect=must("INT-66")),
        TopicCreatedThrough(as_="works", node=leader, within_ms=LIVELY_MS, expect=must("INT-05")),
        *_refused("second", leader, elder),
        Heal(as_="restored", fault="failover"),
        Bind(as_="newer", value=f"broker-epoch:{elder}"),
        Heal(as_="newcomer-dies", fault="duplicate"),
        BrokerEpochAbove(as_="elder-back", node=elder, value="$newer", within_ms=LIVELY_MS, expect=must("D343-16")),
        BrokerActive(as_="elder-serves", node=elder, within_ms=LIVELY_MS, expect=must("D343-16")),
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
            FaultProven(fault="cut"),
            FaultProven(fault="duplicate"),
            FaultProven(fault="failover"),
            StepDone(step="second-fetch"),
            Acknowledged(by="p1", acks="all", after="elder-back.ended"),
        ],
    )


def _taken(elder: str, newcomer: str) -> list[Step]:
    return [
        Bind(as_="older", value=f"broker-epoch:{elder}"),
        InjectCut(as_="cut", from_=elder, to="zookeeper"),
        Registered(as_="gone", node=elder, is_=False, within_ms=LIVELY_MS, expect=must("INT-43")),
        InjectDuplicate(as_="duplicate", node=newcomer),
        BrokerEpochAbove(as_="taken", node=elder, value="$older", within_ms=LIVELY_MS, expect=must("K343-06")),
    ]


def _refused(name: str, leader: str, elder: str) -> list[Step]:
    """By clients, by the controller, by the leader."""
    state = ("t-0", "brokers")
    return [
        *ask(f"{name}-elder", elder, never_serves("D343-17"), repeat=1),
        MetadataHeartbeatProbe(
            as_=f"{name}-heartbeat",
            node="active-controller",
            broker=elder,
            incarnation="$older",
            expect=answers("D343-17", INVALID_INCARNATION),
            unchanged=state,
        ),
        IsrChangeProbe(
            as_=f"{name}-isr-change",
            node="active-controller",
            topic="t",
            broker=elder,
            incarnation="$older",
            expect=answers("K343-47", INVALID_INCARNATION),
            unchanged=state,
        ),
        ReplicaFetchProbe(
            as_=f"{name}-fetch",
            node=leader,
            topic="t",
            broker=elder,
            broker_epoch="$older",
            repeat=3,
            expect=answers("DINT-26", "refused"),
        ),
    ]


def no_replica(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The elder, cut from ZooKeeper only, goes on fetching in an id that is no longer its own.

    When the newcomer dies the id leaves the ISR; what is acknowledged then the elder does not have, and when the
    leader dies too the elder is not elected.
    """
    leader, elder, controller = cast(story, seed)
    newcomer = duplicate_of(elder, "empty")
    timing = pace(target)
    steps = [
        *opening(leader, partition="u-0", work=False),
        Produce(as_="before", topic="u", records=50, expect=answers("LIVE-03", "served")),
        *_taken(elder, newcomer.name),
        IsrIs(as_="in-sync", partition="u-0", has=(leader, elder), within_ms=LIVELY_MS, expect=must("ISR-06")),
        Produce(as_="together", topic="u", records=20, expect=answers("LIVE-03", "served")),
        Heal(as_="newcomer-dies", fault="duplicate"),
        IsrIs(as_="left", partition="u-0", is_=leader, within_ms=LIVELY_MS, expect=must("DINT-26")),
        Produce(as_="during", topic="u", records=50, expect=answers("LIVE-03", "served")),
        InjectKill(as_="leader-dies", nodes=leader),
        LeaderIs(as_="elected", partition="u-0", is_=elder, within_ms=3 * timing.session_ms, expect=never("ISR-07")),
        *closing(work=False),
        Produce(as_="afterwards", topic="u", records=10, expect=answers("LIVE-03", "served")),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=around_zookeeper(controller=controller, more=[newcomer]),
        topics=[topic([leader, elder], name="u", min_isr=1)],
        workload=WorkloadSpec(),
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            FaultProven(fault="duplicate"),
            FaultProven(fault="leader-dies"),
            Acknowledged(by="during", acks="all", at_least=50, after="left.ended"),
        ],
    )


STORIES = (
    kip_343(
        "newer-incarnation-wins",
        "Of two incarnations of a broker the newer wins and the older is refused everywhere",
        newer_wins,
        22,
        "K343-05",
        "K343-28",
        "K343-29",
        "INT-51",
        needs={Capability.DUPLICATE, Capability.LINKS, Capability.KILL},
    ),
    kip_343(
        "older-incarnation-is-no-replica",
        "A broker whose id was taken keeps nothing in the ISR by its fetches, and is not elected",
        no_replica,
        18,
        "D343-17",
        "DINT-13",
        needs={Capability.DUPLICATE, Capability.LINKS, Capability.KILL},
    ),
)
