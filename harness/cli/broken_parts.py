"""The parts of an interactive cluster that do not work, whatever broke them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

WORKING = ("serving", "standby", "active controller", "leader", "follower", "standalone", "unknown", "")
"""Answers of nodes that work, or that were not asked yet."""
REGISTERED = ("active", "registered")


def broken_parts(status: Mapping[str, Any], *, has_controllers: bool, zookeeper_answers: bool) -> list[str]:
    """Return a message for each broken part: nodes, controller, ZooKeeper, partitions. `status` is that of `state_of`.

    Duplicates are left out: the processes that a fault starts may be refused.
    """
    found = [message for node in status["nodes"] if not node["duplicate"] for message in _node(node, status["faults"])]
    if has_controllers and status["controller"] is None:
        found.append("no controller is active")
    if not zookeeper_answers:
        found.append("no ZooKeeper server answers: leaders and replicas are shown as they were last seen")
    return found + list(_partitions(status))


def _node(node: Mapping[str, Any], faults: list[Mapping[str, Any]]) -> Iterator[str]:
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


def _partitions(status: Mapping[str, Any]) -> Iterator[str]:
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
