"""What the stories have in common: their clusters, the work, the claims, and how a story begins and ends."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from harness.plan.base import After, Expect, ExpectOutcome, Level
from harness.plan.conditions import Converged, LeaderIs, Logged, WorkloadAcks
from harness.plan.model import (
    ConsumerSpec,
    Coverage,
    Deviation,
    NodeSpec,
    Plan,
    ProducerSpec,
    Timing,
    TopicSpec,
    Topology,
    WorkloadSpec,
)
from harness.plan.probes import FetchProbe, MetadataProbe, ProduceProbe
from harness.plan.steps import HealAll, Step, Workload
from suites.story import ALWAYS, Story, TargetFacts

CONTROLLER_IDS = (1, 2, 3)
BROKER_IDS = (4, 5, 6)
DUPLICATE_INDEX = 10
"""Added to the index of a node for its duplicate's own addresses."""

LIVELY_MS = 30_000
"""For what must happen sooner or later: far above what any machine needs, so a missed bound is no matter of speed."""

PREFERRED_MS = 1000
"""Long enough for the preferred replica to be told of a new topic, also on a busy machine: it leads as cast."""
WITHOUT_OUTCOME_MS = 1500
"""After so long without a leader each replica looks again, where replicas elect by themselves."""

PRODUCER = ProducerSpec(name="p1", topic="t", rate=100)
CONSUMER = ConsumerSpec(name="c1", topic="t")
WORK = WorkloadSpec(producers=(PRODUCER,), consumers=(CONSUMER,))
"""The standard work: an idempotent producer at acks=all, and a consumer that follows it."""


def node(broker: int) -> str:
    return f"node-{broker}"


def cast(story: Story, seed: int) -> list[str]:
    """The brokers in the order of the topic's replicas, the leader first: all that a seed decides."""
    brokers = [node(broker) for broker in BROKER_IDS]
    random.Random(f"{seed}/{story.slug}").shuffle(brokers)
    return brokers


def pace(
    target: TargetFacts,
    *,
    lease_ms: int = Timing().lease_ms,
    lag_ms: int = Timing().lag_ms,
    fetch_ms: int = Timing().fetch_ms,
    session_ms: int | None = None,
    fence_ms: int | None = None,
) -> Timing:
    """The timeouts of a story, scaled down from those of production and up again for slow targets.

    Around ZooKeeper the session follows the lease unless it is given, and a broker waits a second longer than the
    controller before it fences itself.
    """
    times = Timing(
        lease_ms=lease_ms,
        lag_ms=lag_ms,
        fetch_ms=fetch_ms,
        session_ms=lease_ms if session_ms is None else session_ms,
        fence_ms=lease_ms + 1000 if fence_ms is None else fence_ms,
        preferred_ms=PREFERRED_MS if target.leader_driven else Timing().preferred_ms,
        election_ms=WITHOUT_OUTCOME_MS if target.leader_driven else Timing().election_ms,
    )
    stretched = {name: target.stretch * value for name, value in times.model_dump().items() if name != "heartbeat_ms"}
    return times.model_copy(update=stretched)


def topic(replicas: Sequence[str], *, name: str = "t", min_isr: int = 2) -> TopicSpec:
    """One partition on these brokers; the first leads."""
    ids = tuple(int(replica.removeprefix("node-")) for replica in replicas)
    return TopicSpec(name=name, assignments=(ids,), config={"min.insync.replicas": str(min_isr)})


def six(*, held_back: Iterable[str] = (), more: Iterable[NodeSpec] = ()) -> Topology:
    """Three controllers and three brokers; those held back wait for a start step."""
    later = set(held_back)
    controllers = (NodeSpec(name=node(each), id=each, index=each, roles=("controller",)) for each in CONTROLLER_IDS)
    brokers = (
        NodeSpec(
            name=node(each), id=each, index=each, roles=("broker",), start="later" if node(each) in later else "now"
        )
        for each in BROKER_IDS
    )
    return Topology(nodes=(*controllers, *brokers, *more))


def around_zookeeper(
    *,
    controller: str | None = None,
    servers: int = 1,
    held_back: Iterable[str] = (),
    more: Iterable[NodeSpec] = (),
    log_dirs: int = 1,
    levels: Mapping[str, str] | None = None,
) -> Topology:
    """So many ZooKeeper servers and three brokers.

    `controller` is the one that is elected because it is started first; None where nobody is.
    """
    later, at = set(held_back), levels or {}
    ensemble = (
        NodeSpec(name=f"zk-{each}", id=each, index=each, roles=("zookeeper",)) for each in range(1, servers + 1)
    )
    brokers = (
        NodeSpec(
            name=node(each),
            id=each,
            index=each,
            roles=("broker",),
            start="later" if node(each) in later else "now",
            log_dirs=log_dirs,
            level=at.get(node(each)),
        )
        for each in BROKER_IDS
    )
    return Topology(nodes=(*ensemble, *brokers, *more), controller=controller)


def cluster(
    target: TargetFacts, controller: str, *, held_back: Iterable[str] = (), more: Iterable[NodeSpec] = ()
) -> Topology:
    """The smallest whole cluster of the target's design. `controller` counts where brokers are elected controller."""
    if target.around_zookeeper:
        return around_zookeeper(controller=None if target.leader_driven else controller, held_back=held_back, more=more)
    return six(held_back=held_back, more=more)


def authority(target: TargetFacts) -> str:
    """Whom a broker must reach to keep what it was given."""
    return "zookeeper" if target.around_zookeeper else "controllers"


def asks_the_controller(target: TargetFacts) -> bool:
    """Does the target speak the requests of KIP-343 and ReplicaStateEvent?"""
    return "heartbeats" in target.levels


def silence_ms(target: TargetFacts, timing: Timing) -> int:
    """After so long without an answer a broker serves no more, where it counts by itself."""
    if target.leader_driven:
        return timing.session_ms
    return timing.fence_ms if target.around_zookeeper else timing.lease_ms


def duplicate_of(elder: str, directory: Literal["empty", "cloned", "same"]) -> NodeSpec:
    """The second process for the elder's id, with a name, addresses and links of its own; it waits to be started."""
    broker = int(elder.removeprefix("node-"))
    return NodeSpec(
        name=f"{elder}b",
        id=broker,
        index=DUPLICATE_INDEX + broker,
        roles=("broker",),
        start="later",
        duplicate_of=elder,
        directory=directory,
    )


def must(requirement: str) -> Expect:
    """What is waited for has to happen in time."""
    return Expect(level=Level.MUST, requirement=requirement)


def never(requirement: str) -> Expect:
    """What is waited for may not happen for as long as the step waits."""
    return Expect(level=Level.NEVER, requirement=requirement)


def answers(requirement: str, outcome: str) -> ExpectOutcome:
    """Each answer has to be this one."""
    return ExpectOutcome(level=Level.MUST, requirement=requirement, outcome=outcome)


def may_answer(requirement: str, outcome: str) -> ExpectOutcome:
    """This answer and any other is fine; what came is recorded."""
    return ExpectOutcome(level=Level.MAY, requirement=requirement, outcome=outcome)


def never_answers(requirement: str, outcome: str) -> ExpectOutcome:
    """Any answer but this one, or none."""
    return ExpectOutcome(level=Level.NEVER, requirement=requirement, outcome=outcome)


def never_serves(requirement: str) -> ExpectOutcome:
    """Refused, closed, unanswered: anything but served."""
    return never_answers(requirement, "served")


def ask(
    name: str, broker: str, expect: ExpectOutcome, *, after: After | None = None, repeat: int = 2
) -> list[MetadataProbe | FetchProbe | ProduceProbe]:
    """The three requests that only a serving broker answers, straight to it (DV-03).

    An answer that has to come is waited for; one that may not come is given up soon.
    """
    common = {
        "node": broker,
        "topic": "t",
        "repeat": repeat,
        "timeout_ms": 500 if expect.level is Level.NEVER else 5000,
        "after": after,
        "expect": expect,
    }
    return [
        MetadataProbe.model_validate({"as": f"{name}-metadata", **common}),
        FetchProbe.model_validate({"as": f"{name}-fetch", **common}),
        ProduceProbe.model_validate({"as": f"{name}-produce", "acks": 1, **common}),
    ]


def adopts(name: str, leader: str, partition: str, *, since: str) -> Logged:
    """The leader itself knows that it is alone in its ISR, as its log says.

    Whoever decides on ISRs knows it a moment earlier. What a leader takes in that moment waits for followers that are
    gone, and since Apache Kafka 3.7 (KIP-966) ends by its own timeout instead of being refused.
    """
    alone = leader.removeprefix("node-")
    says = rf"\b{partition}\b.*(?:ISR is |ISR updated to |, ISR )\[?{alone}\]?,? "
    return Logged(as_=name, node=leader, says=says, after=After(event=since), within_ms=LIVELY_MS)


def opening(leader: str, *, partition: str = "t-0", work: bool = True) -> list[Step]:
    """The cast is right, and work is under way. The cluster is whole before any plan begins."""
    begin: list[Step] = [
        LeaderIs(as_="cast", within_ms=LIVELY_MS, partition=partition, is_=leader),
    ]
    if work:
        begin += [Workload(as_="work", action="start"), WorkloadAcks(as_="working", more=20, within_ms=LIVELY_MS)]
    return begin


def closing(*, work: bool = True) -> list[Step]:
    """Everything is healed: the cluster becomes whole again, and work goes on."""
    end: list[Step] = [
        HealAll(as_="heal"),
        Converged(as_="whole", within_ms=LIVELY_MS, expect=must("LIVE-01")),
    ]
    if work:
        end += [
            WorkloadAcks(as_="progress", more=20, within_ms=LIVELY_MS, expect=must("LIVE-03")),
            Workload(as_="rest", action="stop"),
        ]
    return end


LOSES, DIVERGES = "LF-01", "LF-02"
"""What follows where a follower truncates to its own high watermark and a new leader's is its log end (KIP-101)."""


def losses(target: TargetFacts, level: Literal["must", "may"]) -> list[Deviation]:
    """Acknowledged records are lost, on a target that lists it; and what comes of that: their offsets are given to
    others, and consumers that saw them see them no more. What only may be lost is lost by the mechanism that the
    difference tells of: the judge puts nothing else down to it."""
    if not target.differs(LOSES):
        return []
    how: Literal["cut-to-high-watermark"] | None = "cut-to-high-watermark" if level == "may" else None
    return [
        Deviation(difference=LOSES, requirement="ACK-01", level=level, mechanism=how),
        *(Deviation(difference=LOSES, requirement=each, level="may", mechanism=how) for each in CONSEQUENCES),
    ]


def work_despite_losses(target: TargetFacts) -> WorkloadSpec:
    """The standard work; without idempotence where acknowledged records may be lost: a producer whose last sequence
    number is gone from the log is refused for good (45), which is the loss once more and no trouble of the run."""
    if not target.differs(LOSES):
        return WORK
    return WORK.model_copy(update={"producers": (PRODUCER.model_copy(update={"idempotent": False}),)})


CONSEQUENCES = ("ACK-02", "ACK-04", "ACK-06", "ACK-07", "HW-01", "HW-03", "SEG-01", "SEG-02")


def compose(
    story: Story,
    target: TargetFacts,
    seed: int,
    *,
    steps: Sequence[Step],
    coverage: Sequence[Coverage],
    topics: Sequence[TopicSpec],
    deviations: Sequence[Deviation] = (),
    topology: Topology | None = None,
    workload: WorkloadSpec = WORK,
    timing: Timing,
    security: Literal["plaintext", "sasl"] = "plaintext",
) -> Plan:
    """The plan of a story: its own parts in the frame that all stories share.

    Unless the topology says otherwise the last of the cast is controller, where a broker is.
    """
    return Plan(
        story=story.slug,
        title=story.title,
        document=story.document,
        seed=seed,
        target=target.reference,
        requirements=_provable(story, target, steps, deviations),
        level=story.level(target),
        security=security,
        timing=timing,
        topology=topology or cluster(target, cast(story, seed)[-1]),
        topics=tuple(topics),
        workload=workload,
        steps=tuple(steps),
        coverage=tuple(coverage),
        deviations=tuple(deviations),
    )


def _provable(
    story: Story, target: TargetFacts, steps: Sequence[Step], deviations: Sequence[Deviation]
) -> tuple[str, ...]:
    """What a run can prove: what its steps claim, and of a target that follows its documents all that the story names.

    Nothing of a document that describes another design.
    """
    expectations = (getattr(step, "expect", None) for step in steps)
    claimed = [each.requirement for each in (*expectations, *deviations) if each is not None]
    named = [each for each in story.requirements if each in claimed or target.follows_its_documents]
    return tuple(dict.fromkeys(each for each in (*named, *claimed, *ALWAYS) if target.owes(each)))
