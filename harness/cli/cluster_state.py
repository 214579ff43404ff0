"""The state of an interactive cluster as plain data, with all that is broken in it, for `fencepost status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fencepost.faults.capabilities import CapabilityError, Running
from fencepost.harness.cli.ended_nodes import how_it_ended
from fencepost.harness.clients.metadata.image import PartitionEntry
from fencepost.harness.clients.views import Observation
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import StepError
from fencepost.harness.network.layout import Node

WORKING = ("serving", "standby", "active controller", "leader", "follower", "standalone", "unknown", "")
"""Answers of nodes that work, or that were not asked yet."""
REGISTERED = ("active", "registered")


def state_of(context: Context) -> dict[str, Any]:
    """Return the nodes, the partitions, the active faults, all that is broken, and problems of the machine."""
    cluster, now = context.cluster, context.references.now
    active = _active_controller(context)
    state = {
        "target": cluster.plan.target,
        "backend": cluster.backend,
        "run": str(cluster.folder.path),
        "bootstrap": cluster.bootstrap(),
        "controller": active,
        "nodes": [_node(node, context, now, active) for node in cluster.layout.nodes],
        "partitions": [_partition(each) for each in sorted(now.image.partitions.values(), key=lambda one: one.name)],
        "faults": [
            {
                "name": name,
                "fault": fault.name,
                "targets": dict(fault.targets()),
                "nodes": sorted(fault.nodes()),
            }
            for name, fault in context.active_faults.by_name.items()
        ],
        "problems": cluster.problems(),
    }
    broken = broken_parts(state, has_controllers=context.references.dialect.has_controllers, zookeeper_answers=now.news)
    return state | {"broken": broken}


def _node(node: Node, context: Context, now: Observation, active: str | None) -> dict[str, Any]:
    processes = context.cluster.processes
    status = processes.status(node.name)
    running = status.running in (Running.RUNNING, Running.PAUSED)
    return {
        "name": node.name,
        "id": node.id,
        "duplicate": node.duplicate_of is not None,
        "roles": ", ".join(sorted(node.roles)),
        "state": status.running.value,
        "pid": status.pid if running else None,
        "end": how_it_ended(context, node.name) if status.running is Running.EXITED else None,
        "peers": sorted(_peers(node.name, context)) if running else [],
        "says": _answer(node, now, active) if running else "",
        **_registered(node, context, now),
    }


def _peers(name: str, context: Context) -> frozenset[str]:
    try:
        return context.cluster.processes.peers(name)
    except CapabilityError:  # the process ended since its status was read
        return frozenset()


def _answer(node: Node, now: Observation, active: str | None) -> str:
    """Return how the node answered the latest request, or `active controller`."""
    if node.is_zookeeper:
        server = now.servers.get(node.name)
        return "" if server is None else server.mode or server.answer.value
    views: Mapping[str, Any] = now.controllers if node.is_controller else now.brokers
    view = views.get(node.name)
    answer = "" if view is None else str(view.answer.value)
    return "active controller" if node.name == active else answer


def _registered(node: Node, context: Context, now: Observation) -> dict[str, Any]:
    """Return the broker's state in the metadata log or in ZooKeeper; a controller's epoch; `{}` if there is neither."""
    entry = now.image.brokers.get(node.id) if node.is_broker else None
    if entry is None:
        view = now.controllers.get(node.name)
        return {} if view is None or view.epoch < 0 else {"epoch": view.epoch}
    ids = {each.name: each.id for each in context.plan.topology.nodes if "broker" in each.roles}
    holder = entry.process(ids)
    if holder is not None and holder != node.name:
        return {"registered": f"its id is {holder}'s"}
    if holder is None and node.duplicate_of is not None:
        return {}  # the registration does not show which of the two processes it is
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
    if not context.references.dialect.has_controllers:
        return None
    try:
        return context.references.active_controller()
    except StepError:
        return None


def broken_parts(status: Mapping[str, Any], *, has_controllers: bool, zookeeper_answers: bool) -> list[str]:
    """Return a message for each broken part: nodes, controller, ZooKeeper, partitions. `status` is that of `state_of`.

    Duplicates are left out: the processes that a fault starts may be refused.
    """
    found = [
        message for node in status["nodes"] if not node["duplicate"] for message in _broken_node(node, status["faults"])
    ]
    if has_controllers and status["controller"] is None:
        found.append("no controller is active")
    if not zookeeper_answers:
        found.append("no ZooKeeper server answers: leaders and replicas are shown as they were last seen")
    return found + list(_broken_partitions(status))


def _broken_node(node: Mapping[str, Any], faults: list[Mapping[str, Any]]) -> Iterator[str]:
    name, state = node["name"], node["state"]
    holding = ", ".join(fault["name"] for fault in faults if name in fault["nodes"])
    if state != "running":
        how = f"{name} is {state}" if holding or not node["end"] else node["end"]
        yield how + (f", by {holding}" if holding else "")
        return
    if node["says"] not in WORKING:
        yield f"{name} runs, but its answer is `{node['says']}`"
    registered = node.get("registered")
    if registered is not None and registered not in REGISTERED:
        yield f"{name} is {registered}"


def _broken_partitions(status: Mapping[str, Any]) -> Iterator[str]:
    leading = {node["id"] for node in status["nodes"] if "broker" in node["roles"] and node["state"] == "running"}
    without = [each["name"] for each in status["partitions"] if each["leader"] not in leading]
    if without:
        yield f"no running broker leads {', '.join(without)}"
    behind: dict[int, list[str]] = {}
    for each in status["partitions"]:
        for replica in each["replicas"]:
            if replica not in each["isr"]:
                behind.setdefault(replica, []).append(each["name"])
    for replica, names in sorted(behind.items()):
        yield f"the replica of broker {replica} is not in sync: {', '.join(names)}"
