"""Convergence (the plan's `Converged`): the cluster is as it was before any fault, as far as can be observed."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.faults.capabilities import Processes, Running
from fencepost.harness.clients.metadata.image import PartitionEntry
from fencepost.harness.clients.views import Answer, BrokerView, PartitionView, ServerView
from fencepost.harness.engine.references import References


def blocker(references: References, processes: Processes) -> str | None:
    """Return the first reason why the cluster has not converged, None if it has.

    Raise UnresolvedRole while the decided state is unknown.
    """
    references.check_news()
    if references.uses_zookeeper and (reason := _zookeeper_blocker(references, processes)):
        return reason
    image = references.now.image
    alive = {
        node.name: node.id
        for node in references.plan.topology.nodes
        if "broker" in node.roles
        and node.duplicate_of is None
        and processes.status(node.name).running is Running.RUNNING
    }
    ids = frozenset(alive.values())
    views = {name: broker_view(references, name) for name in alive}
    for name, view in views.items():
        if not (registered_as(references, name) == "active" and view.answer is Answer.SERVING):
            return f"{name} is not active"
        if not view.brokers >= ids:
            return f"{name} knows the brokers {sorted(view.brokers)} only"
    not_asked_for = references.plan.prepared_topics | references.plan.huge_topics
    for partition, entry in image.partitions.items():
        in_sync = references.promises.replication != "isr" or set(entry.isr) == set(entry.replicas) & ids
        if entry.leader < 0 or not in_sync:
            return str(entry)
        for name, view in views.items() if entry.topic not in not_asked_for else ():
            if not _agrees(view.partitions.get(partition), entry):
                return f"{name} does not know that {entry}"
    return _other_topics(references, views)


def _other_topics(references: References, views: Mapping[str, BrokerView]) -> str | None:
    """Return which broker describes a partition that was not decided, or a topic of another id."""
    image = references.now.image
    ids = {name: str(id) for id, name in image.topics.items()}
    for name, view in views.items():
        for key, partition in view.partitions.items():
            if key not in image.partitions:
                return f"{name} describes {key}, which does not exist"
            known = ids.get(partition.topic)
            if known is not None and partition.topic_id not in (None, known):
                return f"{name} describes {partition.topic} by the id {partition.topic_id}, in place of {known}"
    return None


def broker_view(references: References, node: str) -> BrokerView:
    """Return what the broker last said of the cluster; an empty view before its first answer."""
    return references.now.brokers.get(node, BrokerView())


def registered_as(references: References, node: str) -> str | None:
    """Return the state of the broker's registration, as was decided; None if it was never registered."""
    entry = references.now.image.brokers.get(references.plan.node(node).id)
    return None if entry is None else entry.state


def _agrees(view: PartitionView | None, entry: PartitionEntry) -> bool:
    return view is not None and view.leader == entry.leader and set(view.isr) == set(entry.isr)


def _zookeeper_blocker(references: References, processes: Processes) -> str | None:
    """Return a running server that does not serve, or a request that waits in ZooKeeper."""
    for node in references.plan.topology.nodes:
        running = processes.status(node.name).running is Running.RUNNING
        server = references.now.servers.get(node.name, ServerView())
        if "zookeeper" in node.roles and running and server.answer is not Answer.SERVING:
            return f"{node.name} is {server.answer} when asked"
    pending = references.now.pending
    return f"{pending[0]} is not done yet" if pending else None
