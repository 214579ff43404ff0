"""What `fencepost status` and `fencepost faults` show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

COLOURS = {"running": "green", "paused": "yellow", "exited": "red"}
STATES = {"active": "green", "fenced": "yellow", "inactive": "yellow", "gone": "red"}


def status_tables(status: Mapping[str, Any]) -> RenderableType:
    """The reply of the control socket to `status`."""
    return Group(*_status(status))


def _status(status: Mapping[str, Any]) -> Iterator[RenderableType]:
    yield f"[bold]{status['target']}[/bold] · {status['backend']}   clients {status['bootstrap']}"
    yield Text(status["run"], "dim")
    yield _nodes(status)
    if status["partitions"]:
        yield _partitions(status)
    if status["faults"]:
        faults = Table("fault", "kind", "what", box=box.SIMPLE_HEAD)
        for fault in status["faults"]:
            faults.add_row(f"[red]{fault['name']}[/red]", fault["fault"], Text(aim(fault["targets"])))
        yield faults
    else:
        yield "nothing is broken"
    for problem in status["problems"]:
        yield Text(problem, "red")


def _nodes(status: Mapping[str, Any]) -> Table:
    nodes = Table("node", "roles", "process", "says", "registered", "epoch", "connected to", box=box.SIMPLE_HEAD)
    for node in status["nodes"]:
        state, registered = node["state"], node.get("registered", "")
        nodes.add_row(
            node["name"],
            node["roles"],
            Text(f"{state} {node['pid'] or ''}".strip(), COLOURS.get(state, "dim")),
            Text(node["says"], "bold" if node["says"] == "active controller" else ""),
            Text(registered, STATES.get(registered, "")),
            str(node.get("epoch", "")),
            " ".join(node["peers"]),
        )
    return nodes


def _partitions(status: Mapping[str, Any]) -> Table:
    """Replicas in sync as they are; those that are not, in brackets."""
    partitions = Table("partition", "leader", "epoch", "in sync (not)", box=box.SIMPLE_HEAD)
    for each in status["partitions"]:
        leader = Text(str(each["leader"])) if each["leader"] >= 0 else Text("none", "red")
        behind = [id for id in each["replicas"] if id not in each["isr"]]
        in_sync = Text(" ".join(map(str, each["isr"])))
        if behind:
            in_sync.append(f" ({' '.join(map(str, behind))})", "yellow")
        partitions.add_row(each["name"], leader, str(each["epoch"]), in_sync)
    return partitions


def aim(targets: Mapping[str, Any]) -> str:
    """What a fault is aimed at, in a line."""
    links = [f"{link['from']} → {link['to']}" for link in targets.get("links", ())]
    others = [
        " ".join(map(str, value)) if isinstance(value, list) else str(value)
        for key, value in targets.items()
        if key != "links"
    ]
    return ", ".join([*links, *others])
