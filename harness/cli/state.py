"""The state of a cluster that is broken by hand, as `fencepost status` tells it: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from faults.capabilities import CapabilityError, Running
from harness.clients.metadata.image import PartitionEntry
from harness.clients.views import Observation
from harness.engine.context import Context, StepError
from harness.network.layout import Node


def state_of(context: Context) -> dict[str, Any]:
    """Nodes as the process table and the cluster have them, partitions, faults, and what makes all of it worthless."""
    cluster, now = context.cluster, context.now
    active = _active_controller(context)
    return {
        "target": cluster.plan.target,
        "backend": cluster.backend,
        "run": str(cluster.folder.path),
        "bootstrap": cluster.bootstrap(),
        "controller": active,
        "nodes": [_node(node, context, now, active) for node in cluster.layout.nodes],
        "partitions": [_partition(each) for each in sorted(now.image.partitions.values(), key=lambda one: one.name)],
        "faults": [
            {"name": name, "fault": fault.name, "targets": dict(fault.targets())}
            for name, fault in context.keeper.active.items()
        ],
        "problems": cluster.problems(),
    }


def _node(node: Node, context: Context, now: Observation, active: str | None) -> dict[str, Any]:
    processes = context.cluster.processes
    status = processes.status(node.name)
    running = status.running in (Running.RUNNING, Running.PAUSED)
    return {
        "name": node.name,
        "roles": ", ".join(sorted(node.roles)),
        "state": status.running.value,
        "pid": status.pid,
        "peers": sorted(_peers(node.name, context)) if running else [],
        "says": _says(node, now, active) if running else "",
        **_registered(node, context, now),
    }


def _peers(name: str, context: Context) -> frozenset[str]:
    try:
        return context.cluster.processes.peers(name)
    except CapabilityError:  # it ended between the two questions
        return frozenset()


def _says(node: Node, now: Observation, active: str | None) -> str:
    """How it took the last question; of a controller also whether it leads."""
    if node.is_zookeeper:
        server = now.servers.get(node.name)
        return "" if server is None else server.mode or server.answer.value
    views: Mapping[str, Any] = now.controllers if node.is_controller else now.brokers
    view = views.get(node.name)
    answer = "" if view is None else str(view.answer.value)
    return "active controller" if node.name == active else answer


def _registered(node: Node, context: Context, now: Observation) -> dict[str, Any]:
    """The broker in the controllers' log, or in ZooKeeper: `{}` of who is none, or was never there."""
    entry = now.image.brokers.get(node.id) if node.is_broker else None
    if entry is None:
        view = now.controllers.get(node.name)
        return {} if view is None or view.epoch < 0 else {"epoch": view.epoch}
    ids = {each.name: each.id for each in context.plan.topology.nodes if "broker" in each.roles}
    holder = entry.process(ids)
    if holder is not None and holder != node.name:
        return {"registered": f"its id is {holder}'s"}
    if holder is None and node.duplicate_of is not None:
        return {}  # nobody says which of the two it is
    return {"registered": entry.state, "epoch": entry.epoch}


def _partition(entry: PartitionEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "leader": entry.leader,
        "epoch": entry.leader_epoch,
        "isr": list(entry.isr),
        "replicas": list(entry.replicas),
    }


def _active_controller(context: Context) -> str | None:
    if not context.dialect.has_controllers:
        return None
    try:
        return context.active_controller()
    except StepError:
        return None
