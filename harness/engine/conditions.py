"""Conditions as predicates over the latest observation. A predicate is evaluated whenever the observation changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fencepost.faults.capabilities import Processes, Running
from fencepost.harness.clients.metadata.image import PartitionEntry
from fencepost.harness.clients.observer import RECHECK
from fencepost.harness.clients.views import Answer
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine import zookeeper
from fencepost.harness.engine.administration import Administration
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.convergence import blocker, broker_view, is_active
from fencepost.harness.engine.errors import UnresolvedRole
from fencepost.harness.engine.huge_topics import WholeConvergence
from fencepost.harness.engine.node_files import node_files
from fencepost.harness.engine.node_logs import LOOK_EVERY
from fencepost.harness.engine.references import References
from fencepost.harness.engine.releases import running_release, version_of
from fencepost.harness.engine.settings import SettingsAgreement
from fencepost.harness.engine.topics import TopicCreation
from fencepost.harness.engine.voters import VoterProgress
from fencepost.harness.plan.base import Release
from fencepost.harness.plan.conditions import (
    ActiveController,
    AdministratorServed,
    AssignmentIs,
    Await,
    Backlog,
    BrokerActive,
    BrokerEpochAbove,
    BrokerFenced,
    Checkpoint,
    Connected,
    Converged,
    IsrIs,
    IsrShrunk,
    LeaderEpochAbove,
    LeaderIs,
    LogEnd,
    Logged,
    MetadataFrom,
    NodeExited,
    Registered,
    ReplicaOffline,
    RunsRelease,
    SettingsAgree,
    TopicCreatedThrough,
    VotersCaughtUp,
    Watches,
    WorkloadAcks,
    WorkloadReads,
    Znode,
)

Predicate = Callable[[], bool]


def predicate(step: Await, name: str, context: Context) -> Predicate:
    """Return the predicate of a condition.

    References are resolved here, once: the leader, for example, may change while the run waits. Raise StepError if a
    reference resolves to no node.
    """
    references = context.references
    match step:
        case BrokerActive(node=ref):
            node = references.node(ref)
            return lambda: is_active(references, node) and _is_serving(references, node)
        case BrokerFenced(node=ref, by="controllers"):
            node = references.node(ref)
            return lambda: _is_given_up(references, node)
        case BrokerFenced(node=ref):
            node = references.node(ref)
            return lambda: broker_view(references, node).answer in (Answer.REFUSING, Answer.CLOSED)
        case BrokerEpochAbove(node=ref, value=value):
            node = references.node(ref)
            epoch = references.broker_epoch(value, node)
            return lambda: references.broker_entry(node).epoch > epoch
        case LeaderIs():
            return _leader(step, references)
        case LeaderEpochAbove(partition=partition, value=value):
            before = references.leader_epoch(value, partition)
            return lambda: references.partition_entry(partition).leader_epoch > before
        case IsrIs():
            return _isr(step, references)
        case IsrShrunk(partition=partition):
            return lambda: _is_shrunk(references.partition_entry(partition))
        case ActiveController():
            return _controller(step, references)
        case Registered(node=ref, is_=is_):
            node = references.node(ref)
            return lambda: zookeeper.is_registered(references, node) is is_
        case Znode():
            return zookeeper.znode(step, references, context.clients.observer)
        case AssignmentIs():
            return zookeeper.assignment(step, references)
        case ReplicaOffline():
            return zookeeper.offline(step, references)
        case VotersCaughtUp():
            return VoterProgress(references, context.clients)
        case NodeExited(node=ref, code=code):
            return _NodeExit(context.cluster.processes, references.node(ref), code)
        case RunsRelease(node=ref, release=release):
            return _RunningRelease(context.cluster, references.node(ref), release)
        case Connected(node=ref, to=to):
            node, peer = references.node(ref), references.node(to)
            return lambda: peer in context.cluster.processes.peers(node)
        case TopicCreatedThrough(node=ref):
            return TopicCreation(references.node(ref), TopicCreatedThrough.topic(name), references, context.clients)
        case AdministratorServed():
            return Administration(name, references, context.clients, context.cluster.processes, context.journal)
        case SettingsAgree():
            return SettingsAgreement(references, context.clients, context.cluster.processes, step.values)
        case WorkloadAcks(more=more, producer=producer):
            workload = context.clients.workload
            return _Progress(
                lambda: workload.acked(producer=producer), more, f"acknowledged to {producer or 'the producers'}"
            )
        case WorkloadReads(more=more, consumer=consumer, group=group, since=since):
            workload = context.clients.workload
            reader = consumer or group or "the consumers"
            what = f"read by {reader}"
            return _Progress(lambda: workload.read(consumer, group), more, what, in_all=since == "start")
        case MetadataFrom():
            return _metadata(step, references)
        case Logged(after=after, says=says):
            return context.logs.search(references.node(step.node), says, after.event if after else None)
        case Watches():
            return zookeeper.WatchCountCondition(step, context.cluster)
        case Backlog():
            return zookeeper.backlog(step, references)
        case Checkpoint() | LogEnd():
            return node_files(step, references, context.cluster)
        case Converged():
            return WholeConvergence(references, context.clients, context.cluster.processes)


def recheck_seconds(step: Await) -> float:
    """Return the seconds between two evaluations while the observation does not change."""
    return LOOK_EVERY if isinstance(step, Logged) else RECHECK


def measured(condition: Predicate) -> Mapping[str, object]:
    """Return what a condition measured or read, for the journal."""
    read: Mapping[str, object] = getattr(condition, "found", {})
    return read


def holds(condition: Predicate) -> bool:
    """Return whether a condition holds. One about something that does not exist (yet) does not hold."""
    try:
        return condition()
    except UnresolvedRole:
        return False


def actual(step: Await, references: References, processes: Processes, condition: Predicate | None = None) -> str:
    """Describe the state that was observed in place of the awaited one, for a message.

    A condition with a `seen` describes it by itself: it asked or counted what no node reports.
    """
    if seen := getattr(condition, "seen", ""):
        return str(seen)
    try:
        return _actual(step, references, processes)
    except UnresolvedRole as error:
        return str(error)


def _actual(step: Await, references: References, processes: Processes) -> str:
    now = references.now
    match step:
        case (
            LeaderIs(partition=partition)
            | LeaderEpochAbove(partition=partition)
            | IsrIs(partition=partition)
            | IsrShrunk(partition=partition)
        ):
            return str(references.partition_entry(partition))
        case ActiveController():
            return ", ".join(
                f"{name} says {view.leader} at epoch {view.epoch}"
                if view.says_it_itself
                else f"{name} holds /controller at epoch {view.epoch}"
                for name, view in now.controllers.items()
            ) or str(references.active_controller())
        case Converged():
            return blocker(references, processes) or "it became true just then"
        case Znode() | AssignmentIs() | ReplicaOffline():
            return zookeeper.actual(step, references)
        case Backlog(node=ref):
            node = references.nodes_now(ref)[0]
            return f"{now.queues.get(references.plan.node(node).id, 0)} requests wait in the queue of {node}"
        case Logged(node=ref, says=says):
            return f"no line of {references.nodes_now(ref)[0]}'s log has {says!r}"
        case RunsRelease(node=ref):
            return f"the measured release is that of the log of {references.nodes_now(ref)[0]}"
        case NodeExited(node=ref, code=code):
            node = references.nodes_now(ref)[0]
            status = processes.status(node)
            ended = f" with code {status.exit_code}, in place of {code}" if status.exit_code is not None else ""
            return f"{node} is {status.running.value}{ended}"
        case Connected(node=ref):
            node = references.nodes_now(ref)[0]
            return f"{node} is connected to {', '.join(sorted(processes.peers(node))) or 'no node'}"
        case Watches() | Checkpoint() | LogEnd() | WorkloadAcks() | WorkloadReads():
            return "another value was read, or none"
        case SettingsAgree():
            return "they were not compared"
        case VotersCaughtUp():
            return "the voters were not asked for"
        case AdministratorServed():
            return "some brokers left a request undone"
        case _:
            node = references.nodes_now(step.node)[0]
            known = now.image.brokers.get(references.plan.node(node).id)
            registered = f"{known.state} at epoch {known.epoch}" if known else "not registered"
            return f"{node} is {registered} for the controllers, and {broker_view(references, node).answer} when asked"


def _is_given_up(references: References, node: str) -> bool:
    """Return whether the controllers have given the broker up.

    A broker that is only `registered` may still be one that they count on: that is unknown before one of them answers.
    """
    entry = references.now.image.brokers.get(references.plan.node(node).id)
    return entry is None or entry.state not in ("active", "registered")


def _is_serving(references: References, node: str) -> bool:
    return broker_view(references, node).answer is Answer.SERVING


@dataclass(frozen=True)
class _RunningRelease:
    """A node's log says that its process runs a release. The journal gets the release that it names."""

    cluster: Cluster
    node: str
    release: Release

    def __call__(self) -> bool:
        return running_release(self.cluster, self.node) == version_of(self.cluster.target, self.release)

    @property
    def found(self) -> Mapping[str, object]:
        return {"node": self.node, "release": running_release(self.cluster, self.node)}


@dataclass(frozen=True)
class _NodeExit:
    """A node has exited. The journal gets its name, so that its end, whenever it comes, is known to be expected."""

    processes: Processes
    node: str
    code: int | None

    def __call__(self) -> bool:
        status = self.processes.status(self.node)
        return status.running is Running.EXITED and self.code in (None, status.exit_code)

    @property
    def found(self) -> Mapping[str, object]:
        return {"node": self.node}


class _Progress:
    """Clients of the workload got on by so many records since the step began, or got so many `in_all`."""

    def __init__(self, count: Callable[[], int], more: int, what: str, *, in_all: bool = False) -> None:
        self._count, self._more, self._what = count, more, what
        self._before = 0 if in_all else count()

    def __call__(self) -> bool:
        return self._count() >= self._before + self._more

    @property
    def seen(self) -> str:
        return f"{self._count() - self._before} of {self._more} records were {self._what}"


def _leader(step: LeaderIs, references: References) -> Predicate:
    wanted = -1 if step.is_ == "none" else references.id(step.is_) if step.is_ else None
    unwanted = references.once_resolved(lambda: references.ids_now(step.is_not))

    def condition() -> bool:
        leader = references.partition_entry(step.partition).leader
        if wanted is not None:
            return leader == wanted
        return leader >= 0 and leader not in unwanted

    return condition


def _isr(step: IsrIs, references: References) -> Predicate:
    has, lacks, exactly = (
        references.once_resolved(lambda refs=refs: references.ids_now(refs))  # type: ignore[misc]  # mypy: default of a lambda
        for refs in (step.has, step.lacks, step.is_)
    )

    def condition() -> bool:
        isr = set(references.partition_entry(step.partition).isr)
        return isr >= has and not isr & lacks and (step.is_ is None or isr == exactly)

    return condition


def _is_shrunk(entry: PartitionEntry) -> bool:
    return not set(entry.isr) >= set(entry.replicas)


def _controller(step: ActiveController, references: References) -> Predicate:
    wanted = references.node(step.is_) if step.is_ else None
    unwanted = references.nodes(step.is_not)

    def condition() -> bool:
        active = references.active_controller()
        return active not in unwanted and wanted in (None, active)

    return condition


def _metadata(step: MetadataFrom, references: References) -> Predicate:
    node = references.node(step.node)
    has, lacks, leader = (
        references.once_resolved(lambda refs=refs: references.ids_now(refs))  # type: ignore[misc]  # mypy: default of a lambda
        for refs in (step.has, step.lacks, step.leader)
    )

    def condition() -> bool:
        view = broker_view(references, node)
        if view.answer is not Answer.SERVING or not view.brokers >= has or view.brokers & lacks:
            return False
        if step.partition is None:
            return True
        partition = view.partitions.get(step.partition)
        return partition is not None and (not leader or partition.leader in leader)

    return condition
