"""Conditions on what ZooKeeper holds, and on what only a cluster around it has to tell."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict

from faults.capabilities import Running
from harness.clients.views import Answer, BrokerView, ServerView
from harness.clients.zookeeper.watches import ALL, WatchCounts, count_watches
from harness.engine.context import Context, Vacant
from harness.network.layout import Listener
from harness.plan.conditions import AssignmentIs, Backlog, ReplicaOffline, Watches, Znode

Predicate = Callable[[], bool]

WATCHES_WITHIN, WATCHES_EVERY = 5.0, 0.25
"""Seconds for a server to list its watches, and between two such questions."""


def is_registered(context: Context, node: str) -> bool:
    """Whoever holds the registration of its id."""
    known = context.now.image.brokers.get(context.plan.node(node).id)
    return known is not None and known.state != "gone"


def znode(step: Znode, context: Context) -> Predicate:
    context.observer.want(step.path)

    def condition() -> bool:
        if step.path not in context.now.znodes:
            raise Vacant(f"{step.path} was not read yet")
        found = context.now.znodes[step.path]
        if found is None:
            return not step.exists
        return step.exists and (step.has is None or step.has in found.text)

    return condition


def assignment(step: AssignmentIs, context: Context) -> Predicate:
    wanted = tuple(context.plan.node(node).id for node in context.nodes(step.is_))

    def condition() -> bool:
        entry = context.partition_entry(step.partition)
        return entry.replicas == wanted and not entry.adding and not entry.removing

    return condition


def offline(step: ReplicaOffline, context: Context) -> Predicate:
    replica = context.plan.node(context.node(step.node)).id
    asked = None if step.asked is None else context.node(step.asked)

    def condition() -> bool:
        view = context.now.brokers.get(asked or context.active_controller(), BrokerView())
        partition = view.partitions.get(step.partition)
        return partition is not None and replica in partition.offline

    return condition


class WatchesHeld:
    """A condition: asks all servers, but not more often than four times a second."""

    def __init__(self, step: Watches, context: Context) -> None:
        self._step = step
        self._servers = [
            context.cluster.probe_address(node.name, Listener.ZOOKEEPER)
            for node in context.plan.topology.nodes
            if "zookeeper" in node.roles and node.start == "now"
        ]
        self._again = 0.0
        self._counts: WatchCounts | None = None

    def __call__(self) -> bool:
        if time.monotonic() >= self._again:
            self._counts = count_watches(self._servers, WATCHES_WITHIN, self._step.topics or ALL)
            self._again = time.monotonic() + WATCHES_EVERY
        return self._counts is not None and self._counts.of(self._step.kind) == self._step.count

    @property
    def found(self) -> dict[str, object]:
        return {} if self._counts is None else {"watches": {**asdict(self._counts), "any": self._counts.any}}


def backlog(step: Backlog, context: Context) -> Predicate:
    broker = context.plan.node(context.node(step.node)).id
    return lambda: step.holds(context.now.queues.get(broker, 0))


def hindrance(context: Context) -> str | None:
    """Why nothing else can be expected to have settled: a server that does not serve, a wish that waits."""
    for node in context.plan.topology.nodes:
        running = context.cluster.processes.status(node.name).running is Running.RUNNING
        server = context.now.servers.get(node.name, ServerView())
        if "zookeeper" in node.roles and running and server.answer is not Answer.SERVING:
            return f"{node.name} is {server.answer} when asked"
    return f"{context.now.pending[0]} waits to be done" if context.now.pending else None


def seen_of(step: Znode | AssignmentIs | ReplicaOffline, context: Context) -> str:
    """What there is in place of what was waited for, for a sentence. Vacant if a role is."""
    match step:
        case Znode(path=path):
            found = context.now.znodes.get(path)
            return f"{path} holds {found.text!r}" if found else f"{path} is not there"
        case AssignmentIs(partition=partition):
            entry = context.partition_entry(partition)
            moving = f", adding {list(entry.adding)}, removing {list(entry.removing)}"
            return f"{partition} is assigned to {list(entry.replicas)}" + moving * bool(entry.adding or entry.removing)
        case ReplicaOffline(partition=partition):
            asked = context.nodes_now(step.asked or "active-controller")[0]
            view = context.now.brokers.get(asked, BrokerView()).partitions.get(partition)
            return f"{asked} lists {list(view.offline) if view else 'nothing'} as offline replicas of {partition}"
