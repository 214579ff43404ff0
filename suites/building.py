"""The frame that all plans share: setup, workload, service probes, teardown, and what a plan can prove."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.faults.disks.rule_fault import RuleParameters
from fencepost.harness.checkers.owed import every_run, every_workload
from fencepost.harness.plan.base import After, Expect, ExpectOutcome, Level
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import (
    Acknowledged,
    ConsumerSpec,
    Deviation,
    FaultMet,
    FaultProven,
    ProducerSpec,
    TopicSpec,
    WorkloadSpec,
)
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.topologies import node_name
from fencepost.suites.clusters import node_id
from fencepost.suites.expectations import ACKNOWLEDGED_LOSS, must
from fencepost.suites.target_facts import TargetFacts
from fencepost.suites.words import (
    AdministratorServed,
    Converged,
    FetchProbe,
    HealAll,
    IsrIs,
    LeaderIs,
    Logged,
    MetadataFrom,
    MetadataProbe,
    Produce,
    ProduceProbe,
    Workload,
    WorkloadAcks,
)

PRODUCER = ProducerSpec(name="p1", topic="t", rate=100)
CONSUMER = ConsumerSpec(name="c1", topic="t")
WORKLOAD = WorkloadSpec(producers=(PRODUCER,), consumers=(CONSUMER,))
"""An idempotent producer at acks=all, and a consumer that follows it."""


def workload_with_losses(target: TargetFacts) -> WorkloadSpec:
    """Return the usual workload; its producer is not idempotent on a target that may lose acknowledged records.

    The broker refuses an idempotent producer for good (error 45) once the log has lost its last sequence number. That
    refusal would repeat the loss; it is no failure of the run.
    """
    if not target.differs(ACKNOWLEDGED_LOSS):
        return WORKLOAD
    return WORKLOAD.model_copy(update={"producers": (PRODUCER.model_copy(update={"idempotent": False}),)})


def service_probes(
    name: str, broker: str, expect: ExpectOutcome, *, after: After | None = None, repeat: int = 2
) -> list[MetadataProbe | FetchProbe | ProduceProbe]:
    """Return the three requests that only a serving broker answers, sent straight to it (DV-03).

    A probe waits for an expected answer, and soon gives up one that must not come.
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


def logs_sole_isr(name: str, leader: str, partition: str, *, since: str) -> Logged:
    """Wait until the leader logs that it is alone in its ISR.

    The controller, or ZooKeeper, knows it a moment earlier. A record that the leader takes in that moment waits for
    followers that are gone; since Apache Kafka 3.7 (KIP-966) that request ends by its timeout, not by a refusal.
    """
    says = rf"\b{partition}\b.*(?:ISR is |ISR updated to |, ISR )\[?{node_id(leader)}\]?,? "
    return Logged(as_=name, node=leader, says=says, after=After(event=since))


def learns_leader(name: str, broker: str, partition: str, leader: str, expect: Expect) -> MetadataFrom:
    """Wait until a broker tells its clients that this replica leads the partition."""
    return MetadataFrom(as_=name, node=broker, partition=partition, leader=leader, expect=expect)


def setup(topic: TopicSpec, target: TargetFacts, *, work: bool) -> list[Step]:
    """Wait until the intended replica leads, if one was, and start the workload.

    The cluster is whole before any plan begins.
    """
    leader = node_name(topic.assignments[0][0])
    begin: list[Step] = []
    if target.promises.replication == "isr":
        begin.append(LeaderIs(as_="leader-ready", partition=f"{topic.name}-0", is_=leader))
    if work:
        begin += [Workload(as_="work", action="start"), WorkloadAcks(as_="working", more=20)]
    return begin


def teardown(*, work: bool) -> list[Step]:
    """Heal every fault, wait until the cluster is whole again and serves its clients, and stop the workload."""
    end: list[Step] = [HealAll(as_="heal"), Converged(as_="whole", expect=must("LIVE-01", "META-01"))]
    if work:
        end.append(WorkloadAcks(as_="progress", more=20, expect=must("LIVE-03")))
    end.append(AdministratorServed(as_="administered", expect=must("LIVE-05")))
    if work:
        end.append(Workload(as_="stop-work", action="stop"))
    return end


def acknowledged(
    after: str | None = None, *, before: str | None = None, by: str = "p1", at_least: int = 1
) -> Acknowledged:
    """Require records that all in-sync replicas have, acknowledged to the usual producer between two instants."""
    return Acknowledged(by=by, acks="all", at_least=at_least, after=after, before=before)


def goes_on(*requirements: str, more: int = 20) -> WorkloadAcks:
    """Expect that producers go on: so many more records are acknowledged. Without requirements it shows LIVE-03."""
    return WorkloadAcks(as_="goes-on", more=more, expect=must(*(requirements or ("LIVE-03",))))


def returns_to_isr(broker: str) -> IsrIs:
    """Expect that the broker is a member of t-0's ISR again."""
    return IsrIs(as_="returned", partition="t-0", has=broker, expect=must("ISR-06"))


def retried(step: Step) -> Step:
    """Return a burst without the sequence numbers that brokers before 0.11 do not know (KIP-98)."""
    return step.model_copy(update={"idempotent": False}) if isinstance(step, Produce) else step


def plain(workload: WorkloadSpec) -> WorkloadSpec:
    """Return the workload with no idempotent producer."""
    producers = tuple(producer.model_copy(update={"idempotent": False}) for producer in workload.producers)
    return workload.model_copy(update={"producers": producers})


def owed(step: Step, target: TargetFacts) -> Step:
    """Return the step without the further requirements of its claim that belong to documents of other designs."""
    expect = getattr(step, "expect", None)
    if expect is None or all(map(target.owes, expect.also)):
        return step
    also = tuple(filter(target.owes, expect.also))
    return step.model_copy(update={"expect": expect.model_copy(update={"also": also})})


def proof(step: InjectStep) -> FaultProven | FaultMet:
    """Return what a run has to show of a fault: that it took effect, or that operations met the rule of a disk."""
    return FaultMet(fault=step.as_) if isinstance(step, RuleParameters) else FaultProven(fault=step.as_)


def provable(
    named: Sequence[str],
    target: TargetFacts,
    steps: Sequence[Step],
    deviations: Sequence[Deviation],
    workload: WorkloadSpec,
) -> tuple[str, ...]:
    """Return the requirements that a run can prove, without those of documents that describe other designs.

    They are what the steps claim, liveness last, then what the scenario names, on a target that follows its documents,
    and what every run is judged by.
    """
    expectations = [expect for step in steps if (expect := getattr(step, "expect", None)) is not None]
    claimed = [name for expect in expectations for name in (expect.requirement, *expect.also)]
    claimed += [deviation.requirement for deviation in deviations if deviation.level == "must"]
    claimed.sort(key=lambda each: each.startswith("LIVE-"))
    exercised = [name for name in named if name in claimed or target.follows_its_documents]
    return tuple(
        dict.fromkeys(
            name for name in (*claimed, *exercised, *every_run(), *every_workload(workload)) if target.owes(name)
        )
    )
