"""Conditions as predicates over what is observed now. Each is looked at whenever something changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kio.schema.errors import ErrorCode

from faults.capabilities import Running
from harness.clients.asking import ask_controller
from harness.clients.metadata.image import PartitionEntry
from harness.clients.observer import RECHECK
from harness.clients.raw import NoAnswer
from harness.clients.views import Answer, BrokerView, PartitionView
from harness.engine import zookeeper
from harness.engine.context import Context, Vacant
from harness.engine.node_files import node_files
from harness.engine.node_logs import LOOK_EVERY
from harness.engine.topics import create_topic
from harness.network.layout import Listener
from harness.plan.conditions import (
    ActiveController,
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
    TopicCreatedThrough,
    Watches,
    WorkloadAcks,
    Znode,
)

Predicate = Callable[[], bool]

CREATE_WITHIN = 1.0
"""Seconds for one attempt to create a topic."""


def predicate(step: Await, name: str, context: Context) -> Predicate:
    """What the step waits for. References are resolved now, once: who leads may change while it waits.

    StepError if a reference leads to nobody.
    """
    match step:
        case BrokerActive(node=ref):
            node = context.node(ref)
            return lambda: _registered(context, node) and _serving(context, node)
        case BrokerFenced(node=ref, by="controllers"):
            node = context.node(ref)
            return lambda: _given_up(context, node)
        case BrokerFenced(node=ref):
            node = context.node(ref)
            return lambda: _view(context, node).answer in (Answer.REFUSING, Answer.CLOSED)
        case BrokerEpochAbove(node=ref, value=value):
            node = context.node(ref)
            epoch = context.number(value, f"the broker epoch of {node}", lambda: context.broker_entry(node).epoch)
            return lambda: context.broker_entry(node).epoch > epoch
        case LeaderIs():
            return _leader(step, context)
        case LeaderEpochAbove(partition=partition, value=value):
            before = context.number(
                value, f"the leader epoch of {partition}", lambda: context.partition_entry(partition).leader_epoch
            )
            return lambda: context.partition_entry(partition).leader_epoch > before
        case IsrIs():
            return _isr(step, context)
        case IsrShrunk(partition=partition):
            return lambda: _shrunk(context.partition_entry(partition))
        case ActiveController():
            return _controller(step, context)
        case Registered(node=ref, is_=is_):
            node = context.node(ref)
            return lambda: zookeeper.is_registered(context, node) is is_
        case Znode():
            return zookeeper.znode(step, context)
        case AssignmentIs():
            return zookeeper.assignment(step, context)
        case ReplicaOffline():
            return zookeeper.offline(step, context)
        case NodeExited(node=ref, code=code):
            return _Exited(context, context.node(ref), code)
        case Connected(node=ref, to=to):
            node, peer = context.node(ref), context.node(to)
            return lambda: peer in context.cluster.processes.peers(node)
        case TopicCreatedThrough(node=ref):
            node = context.node(ref)
            return lambda: _created_through(context, node, f"created-at-{name}")
        case WorkloadAcks(more=more, producer=producer):
            before = context.workload.acked(producer=producer)
            return lambda: context.workload.acked(producer=producer) >= before + more
        case MetadataFrom():
            return _metadata(step, context)
        case Logged(after=after, says=says):
            return context.logs.search(context.node(step.node), says, after.event if after else None)
        case Watches():
            return zookeeper.WatchesHeld(step, context)
        case Backlog():
            return zookeeper.backlog(step, context)
        case Checkpoint() | LogEnd():
            return node_files(step, context)
        case Converged():
            return lambda: converged(context)


def looked_at_every(step: Await) -> float:
    """Seconds between two looks, where nothing tells that it is worth one."""
    return LOOK_EVERY if isinstance(step, Logged) else RECHECK


def found(condition: Predicate) -> Mapping[str, object]:
    """What a condition measured or read, for the journal."""
    read: Mapping[str, object] = getattr(condition, "found", {})
    return read


def holds(condition: Predicate) -> bool:
    """A condition about something that is not there (yet) does not hold."""
    try:
        return condition()
    except Vacant:
        return False


def seen(step: Await, context: Context) -> str:
    """What there is in place of what was waited for, for a sentence."""
    try:
        return _seen(step, context)
    except Vacant as error:
        return str(error)


def _seen(step: Await, context: Context) -> str:
    now = context.now
    match step:
        case (
            LeaderIs(partition=partition)
            | LeaderEpochAbove(partition=partition)
            | IsrIs(partition=partition)
            | IsrShrunk(partition=partition)
        ):
            return str(context.partition_entry(partition))
        case ActiveController():
            return ", ".join(
                f"{name} says {view.leader} at epoch {view.epoch}"
                if view.says_it_itself
                else f"{name} holds /controller at epoch {view.epoch}"
                for name, view in now.controllers.items()
            ) or str(context.active_controller())
        case Converged():
            return hindrance(context) or "it came true just then"
        case Znode() | AssignmentIs() | ReplicaOffline():
            return zookeeper.seen_of(step, context)
        case Backlog(node=ref):
            node = context.nodes_now(ref)[0]
            return f"{now.queues.get(context.plan.node(node).id, 0)} requests wait in the queue of {node}"
        case Logged(node=ref, says=says):
            return f"no line of {context.nodes_now(ref)[0]}'s log has {says!r}"
        case NodeExited() | Connected() | WorkloadAcks() | TopicCreatedThrough() | Watches() | Checkpoint() | LogEnd():
            return "nothing else is known"
        case _:
            node = context.nodes_now(step.node)[0]
            known = now.image.brokers.get(context.plan.node(node).id)
            registered = f"{known.state} at epoch {known.epoch}" if known else "not registered"
            return f"{node} is {registered} for the controllers, and {_view(context, node).answer} when asked"


def hindrance(context: Context) -> str | None:
    """Why the cluster has not converged (see the plan's `Converged`): the first reason found. Vacant if nobody can say
    what was decided."""
    context.check_news()
    if context.in_zookeeper and (reason := zookeeper.hindrance(context)):
        return reason
    image = context.now.image
    alive = {
        node.name: node.id
        for node in context.plan.topology.nodes
        if "broker" in node.roles
        and node.duplicate_of is None
        and context.cluster.processes.status(node.name).running is Running.RUNNING
    }
    ids = frozenset(alive.values())
    views = {name: _view(context, name) for name in alive}
    for name, view in views.items():
        if not (_registered(context, name) and view.answer is Answer.SERVING):
            return f"{name} is not active"
        if not view.brokers >= ids:
            return f"{name} knows the brokers {sorted(view.brokers)} only"
    unasked = context.plan.prepared_topics
    for partition, entry in image.partitions.items():
        if entry.leader < 0 or set(entry.isr) != set(entry.replicas) & ids:
            return str(entry)
        for name, view in views.items() if entry.topic not in unasked else ():
            if not _agrees(view.partitions.get(partition), entry):
                return f"{name} does not know that {entry}"
    return None


def converged(context: Context) -> bool:
    return hindrance(context) is None


def _agrees(view: PartitionView | None, entry: PartitionEntry) -> bool:
    return view is not None and view.leader == entry.leader and set(view.isr) == set(entry.isr)


def _registered(context: Context, node: str) -> bool:
    entry = context.now.image.brokers.get(context.plan.node(node).id)
    return entry is not None and entry.state == "active"


def _given_up(context: Context, node: str) -> bool:
    """Whether a registered broker is one that the controllers count on is not known before one of them answers."""
    entry = context.now.image.brokers.get(context.plan.node(node).id)
    return entry is None or entry.state not in ("active", "registered")


def _serving(context: Context, node: str) -> bool:
    return _view(context, node).answer is Answer.SERVING


def _view(context: Context, node: str) -> BrokerView:
    return context.now.brokers.get(node, BrokerView())


@dataclass(frozen=True)
class _Exited:
    """The journal has which node was meant: its end, whenever it comes, is no accident."""

    context: Context
    node: str
    code: int | None

    def __call__(self) -> bool:
        status = self.context.cluster.processes.status(self.node)
        return status.running is Running.EXITED and self.code in (None, status.exit_code)

    @property
    def found(self) -> Mapping[str, object]:
        return {"node": self.node}


def _created_through(context: Context, node: str, topic: str) -> bool:
    """As its clients do: a broker that does not forward the wish names the controller to send it to."""
    try:
        error, controller = _create(context, node, topic)
        if error is ErrorCode.not_controller and controller is not None:
            error, _ = _create(context, controller, topic)
    except NoAnswer:
        return False
    return error in (ErrorCode.none, ErrorCode.topic_already_exists)


def _create(context: Context, node: str, topic: str) -> tuple[ErrorCode, str | None]:
    """The answer, and whom the node holds to be the controller if it says that it is not."""
    with context.connect(node, Listener.CLIENT, CREATE_WITHIN) as connection:
        error, _ = create_topic(connection, topic, partitions=1, replicas=1, timeout_ms=int(CREATE_WITHIN * 1000))
        if error is not ErrorCode.not_controller:
            return error, None
        named = ask_controller(connection, context.dialect)
    return error, next((each for each in context.nodes_now("brokers") if context.plan.node(each).id == named), None)


def _leader(step: LeaderIs, context: Context) -> Predicate:
    wanted = -1 if step.is_ == "none" else context.plan.node(context.node(step.is_)).id if step.is_ else None
    unwanted = context.patiently(lambda: context.ids_now(step.is_not))

    def condition() -> bool:
        leader = context.partition_entry(step.partition).leader
        if wanted is not None:
            return leader == wanted
        return leader >= 0 and leader not in unwanted

    return condition


def _isr(step: IsrIs, context: Context) -> Predicate:
    has, lacks, exactly = (
        context.patiently(lambda refs=refs: context.ids_now(refs))  # type: ignore[misc]  # mypy: default of a lambda
        for refs in (step.has, step.lacks, step.is_)
    )

    def condition() -> bool:
        isr = set(context.partition_entry(step.partition).isr)
        return isr >= has and not isr & lacks and (step.is_ is None or isr == exactly)

    return condition


def _shrunk(entry: PartitionEntry) -> bool:
    return not set(entry.isr) >= set(entry.replicas)


def _controller(step: ActiveController, context: Context) -> Predicate:
    wanted = context.node(step.is_) if step.is_ else None
    unwanted = context.nodes(step.is_not)

    def condition() -> bool:
        active = context.active_controller()
        return active not in unwanted and wanted in (None, active)

    return condition


def _metadata(step: MetadataFrom, context: Context) -> Predicate:
    node = context.node(step.node)
    has, lacks, leader = (
        context.patiently(lambda refs=refs: context.ids_now(refs))  # type: ignore[misc]  # mypy: default of a lambda
        for refs in (step.has, step.lacks, step.leader)
    )

    def condition() -> bool:
        view = _view(context, node)
        if view.answer is not Answer.SERVING or not view.brokers >= has or view.brokers & lacks:
            return False
        if step.partition is None:
            return True
        partition = view.partitions.get(step.partition)
        return partition is not None and (not leader or partition.leader in leader)

    return condition
