"""Story 6: a process that holds no lease must not count as a replica, whatever id it fetches in.

The partition has two replicas: the leader, and the broker whose id two processes claim. Once one of the two is cut
from the leader and the other keeps fetching, everything hangs on whom the leader credits.
"""

from __future__ import annotations

from faults.capabilities import Capability
from harness.plan.base import After, ExpectOutcome
from harness.plan.conditions import BrokerEpochAbove, Connected, IsrIs, LeaderIs
from harness.plan.injects import InjectCut, InjectDuplicate, InjectKill
from harness.plan.model import (
    Acknowledged,
    Deviation,
    FaultProven,
    Plan,
    StepDone,
    TopicSpec,
    WorkloadSpec,
)
from harness.plan.probes import ProduceProbe, ReplicaFetchProbe
from harness.plan.steps import Bind, Heal, Hold, Produce, Step
from suites.building import (
    LIVELY_MS,
    adopts,
    answers,
    cast,
    closing,
    compose,
    duplicate_of,
    must,
    never,
    opening,
    pace,
    six,
    topic,
)
from suites.story import EVERYWHERE, Story, TargetFacts

BEFORE, DURING, ALONE = 100, 220, 5
SEGMENTS = ("SEG-01", "SEG-02")
NO_WORK = WorkloadSpec()


def elder_cut(story: Story, target: TargetFacts, seed: int) -> Plan:
    """The elder is cut from the leader while the newcomer runs; then newcomer and leader die.

    Where the newcomer wins it is a replica by right. The elder, which has nothing of what was acknowledged meanwhile,
    gets its id back when the newcomer is gone, and may not be elected. Where the newcomer is refused (AK-01) and
    credited all the same (AK-06), acknowledged records are lost.
    """
    leader, elder, _ = cast(story, seed)
    newcomer = duplicate_of(elder, "empty")
    steps = [
        *opening(leader, partition="u-0", work=False),
        Produce(as_="before", topic="u", records=BEFORE, expect=answers("LIVE-03", "served")),
        *_joined(target, leader, elder, newcomer.name),
        InjectCut(as_="cut", from_=elder, to=leader),
        Hold(as_="lagging", after="cut.proven", ms=2 * pace(target).lag_ms),
        *_credited(target, elder),
        Produce(as_="during", topic="u", records=DURING, idempotent=True, timeout_ms=15_000),
        Heal(as_="newcomer-dies", fault="duplicate"),
        *_leader_dies(target, leader, elder),
        *closing(work=False),
        Produce(as_="afterwards", topic="u", records=10, expect=answers("LIVE-03", "served")),
    ]
    lost = [
        Deviation(difference="AK-06", requirement="ACK-01"),
        # Their offsets are given out again, and the files show it.
        *(Deviation(difference="AK-06", requirement=each, level="may") for each in ("ACK-04", "HW-03", *SEGMENTS)),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topology=six(more=[newcomer]),
        topics=[_pair(leader, elder)],
        workload=NO_WORK,
        steps=steps,
        deviations=lost if target.differs("AK-06") else (),
        coverage=[
            FaultProven(fault="duplicate"),
            FaultProven(fault="cut"),
            FaultProven(fault="leader-dies"),
            Acknowledged(by="before", acks="all", at_least=BEFORE),
            Acknowledged(by="during", acks="all", at_least=DURING, after="cut.proven", before="leader-dies.injected"),
        ],
    )


def _joined(target: TargetFacts, leader: str, elder: str, newcomer: str) -> list[Step]:
    """The newcomer runs and fetches from the leader, let in or not."""
    start: list[Step] = [
        Bind(as_="elder-epoch", value=f"broker-epoch:{elder}"),
        InjectDuplicate(as_="duplicate", node=newcomer),
    ]
    if not target.differs("AK-01"):
        start.append(
            BrokerEpochAbove(as_="won", node=elder, value="$elder-epoch", within_ms=LIVELY_MS, expect=must("K631-39"))
        )
    return [
        *start,
        Connected(as_="fetching", node=newcomer, to=leader, within_ms=LIVELY_MS),
        IsrIs(as_="in-sync", partition="u-0", has=(leader, elder), within_ms=LIVELY_MS),
    ]


def _credited(target: TargetFacts, elder: str) -> list[Step]:
    """After twice the lag time: the id is in the ISR by the newcomer's fetches alone."""
    held = must("ISR-07").model_copy(update={"difference": "AK-06"}) if target.differs("AK-06") else None
    return [IsrIs(as_="credited", partition="u-0", has=elder, within_ms=1000, expect=held)]


def _leader_dies(target: TargetFacts, leader: str, elder: str) -> list[Step]:
    """Who is elected, if anybody.

    The lease of the newcomer ends first, so that the leader is the one that everything waits for. Where the newcomer
    never had a lease the elder is a member of the ISR, and is elected.
    """
    dies = InjectKill(as_="leader-dies", nodes=leader)
    if target.differs("AK-06"):
        elected = must("ISR-07").model_copy(update={"difference": "AK-06"})
        return [dies, LeaderIs(as_="elected", partition="u-0", is_=elder, within_ms=LIVELY_MS, expect=elected)]
    return [
        IsrIs(as_="left", partition="u-0", is_=leader, within_ms=LIVELY_MS, expect=must("D631-07")),
        dies,
        LeaderIs(
            as_="elected", partition="u-0", is_=elder, within_ms=3 * pace(target).lease_ms, expect=never("ISR-07")
        ),
    ]


def foreign_fetches(story: Story, target: TargetFacts, seed: int) -> Plan:
    """A follower is cut from the leader, which then takes records that it does not have.

    Raw fetches in its name ask for what comes after them, as if it had them.
    """
    leader, follower, _ = cast(story, seed)
    rule = target.rule("D631-16", "DINT-26", "DLD-02")
    nobody = target.unless("AK-06", answers(rule, "refused"), answers(rule, "served"))
    nobody = target.unless("AZ-05", nobody, answers(rule, "served"))
    stale = target.unless("AZ-05", answers(rule, "refused"), answers(rule, "served"))
    steps = [
        *opening(leader, partition="u-0", work=False),
        Produce(as_="before", topic="u", records=BEFORE, expect=answers("LIVE-03", "served")),
        InjectCut(as_="cut", from_=follower, to=leader),
        Produce(as_="missing", topic="u", node=leader, acks=1, records=ALONE, expect=answers("LIVE-03", "served")),
        *_fetches("nobody", leader, follower, -1, nobody),
        *_fetches("stale", leader, follower, "stale", stale),
        Produce(as_="more", topic="u", node=leader, acks=1, expect=answers("LIVE-03", "served")),
        IsrIs(as_="alone", partition="u-0", is_=leader, within_ms=LIVELY_MS, expect=must("ISR-05")),
        adopts("adopted", leader, "u-0", since="cut.injected"),
        ProduceProbe(
            as_="too-few",
            node=leader,
            topic="u",
            acks="all",
            repeat=2,
            after=After(event="adopted.ended"),
            expect=answers("ISR-08", "error:[19, 20]"),
        ),
        Heal(as_="mend", fault="cut"),
        IsrIs(as_="rejoined", partition="u-0", has=follower, within_ms=LIVELY_MS, expect=must("ISR-06")),
        Produce(as_="afterwards", topic="u", records=10, expect=answers("LIVE-03", "served")),
        *closing(work=False),
    ]
    return compose(
        story,
        target,
        seed,
        timing=pace(target),
        topics=[_pair(leader, follower)],
        workload=NO_WORK,
        steps=steps,
        coverage=[
            FaultProven(fault="cut"),
            StepDone(step="fetch-nobody"),
            StepDone(step="fetch-stale"),
            Acknowledged(by="before", acks="all", at_least=BEFORE),
            Acknowledged(by="missing", acks=1, at_least=ALONE, after="cut.proven"),
        ],
    )


def _fetches(name: str, leader: str, follower: str, epoch: int | str, expect: ExpectOutcome) -> list[Step]:
    return [
        ReplicaFetchProbe(
            as_=f"fetch-{name}",
            node=leader,
            topic="u",
            broker=follower,
            broker_epoch=epoch,
            offset=BEFORE + ALONE,
            repeat=8,
            expect=expect,
        )
    ]


def _pair(leader: str, elder: str) -> TopicSpec:
    return topic([leader, elder], name="u")


STORIES = (
    Story(
        slug="refused-duplicate",
        title="A refused duplicate must not count as a replica",
        requirements=("ACK-01", "ISR-07", "D631-07", "D631-16", "K631-39", "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.DUPLICATE, Capability.LINKS, Capability.KILL}),
        seconds=20,
        build=elder_cut,
    ),
    Story(
        slug="foreign-fetches",
        title="Fetches without the registered epoch keep nobody in the ISR",
        requirements=("D631-16", "ISR-05", "ISR-06", "ISR-07", "ISR-08", "LIVE-01", "LIVE-03"),
        needs=frozenset({Capability.LINKS}),
        seconds=10,
        build=foreign_fetches,
        dialects=EVERYWHERE,
    ),
)
