"""Conditions on what ZooKeeper holds, and on what only a cluster with ZooKeeper reports."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict

from fencepost.harness.clients.observer import Observer
from fencepost.harness.clients.views import BrokerView
from fencepost.harness.clients.zookeeper.watches import ALL, WatchCounts, count_watches
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.errors import UnresolvedRole
from fencepost.harness.engine.references import References
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.conditions import AssignmentIs, Backlog, ReplicaOffline, Watches, Znode

Predicate = Callable[[], bool]

WATCHES_WITHIN, WATCHES_EVERY = 5.0, 0.25
"""Seconds for a server to list its watches, and between two such requests."""


def is_registered(references: References, node: str) -> bool:
    """Return whether the id of `node` is registered, by that node or by its duplicate."""
    known = references.now.image.brokers.get(references.plan.node(node).id)
    return known is not None and known.state != "gone"


def znode(step: Znode, references: References, observer: Observer) -> Predicate:
    """Return the condition that a znode exists, with a text in it, or does not exist."""
    observer.want(step.path)

    def condition() -> bool:
        if step.path not in references.now.znodes:
            raise UnresolvedRole(f"{step.path} was not read yet")
        read = references.now.znodes[step.path]
        if read is None:
            return not step.exists
        return step.exists and (step.has is None or step.has in read.text)

    return condition


def assignment(step: AssignmentIs, references: References) -> Predicate:
    """Return the condition that a partition is assigned to these brokers, and not being reassigned."""
    wanted = tuple(references.plan.node(node).id for node in references.nodes(step.is_))

    def condition() -> bool:
        entry = references.partition_entry(step.partition)
        return entry.replicas == wanted and not entry.adding and not entry.removing

    return condition


def offline(step: ReplicaOffline, references: References) -> Predicate:
    """Return the condition that a broker, by default the controller, lists a replica as offline."""
    replica = references.id(step.node)
    asked = None if step.asked is None else references.node(step.asked)

    def condition() -> bool:
        view = references.now.brokers.get(asked or references.active_controller(), BrokerView())
        partition = view.partitions.get(step.partition)
        return partition is not None and replica in partition.offline

    return condition


class WatchCountCondition:
    """A condition on the watches that all servers hold together. It asks them at most four times a second."""

    def __init__(self, step: Watches, cluster: Cluster) -> None:
        self._step = step
        self._servers = [
            cluster.probe_address(node.name, Listener.ZOOKEEPER)
            for node in cluster.plan.topology.nodes
            if "zookeeper" in node.roles and node.start == "now"
        ]
        self._ask_at = 0.0
        self._counts: WatchCounts | None = None

    def __call__(self) -> bool:
        if time.monotonic() >= self._ask_at:
            self._counts = count_watches(self._servers, WATCHES_WITHIN, self._step.topics or ALL)
            self._ask_at = time.monotonic() + WATCHES_EVERY
        return self._counts is not None and self._counts.of(self._step.kind) == self._step.count

    @property
    def found(self) -> dict[str, object]:
        return {} if self._counts is None else {"watches": {**asdict(self._counts), "any": self._counts.any}}


def backlog(step: Backlog, references: References) -> Predicate:
    """Return the condition on the number of requests that wait in a broker's queue."""
    broker = references.id(step.node)
    return lambda: step.holds(references.now.queues.get(broker, 0))


def actual(step: Znode | AssignmentIs | ReplicaOffline, references: References) -> str:
    """Describe the state that was observed in place of the awaited one. Raise UnresolvedRole for such a role."""
    match step:
        case Znode(path=path):
            read = references.now.znodes.get(path)
            return f"{path} holds {read.text!r}" if read else f"{path} does not exist"
        case AssignmentIs(partition=partition):
            entry = references.partition_entry(partition)
            moving = f", adding {list(entry.adding)}, removing {list(entry.removing)}"
            return f"{partition} is assigned to {list(entry.replicas)}" + moving * bool(entry.adding or entry.removing)
        case ReplicaOffline(partition=partition):
            asked = references.nodes_now(step.asked or "active-controller")[0]
            view = references.now.brokers.get(asked, BrokerView()).partitions.get(partition)
            return f"{asked} lists {list(view.offline) if view else 'nothing'} as offline replicas of {partition}"
