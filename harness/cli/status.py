"""`fencepost status`: the cluster that is up, as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fencepost.harness.cli.commands.interactive import StatusOptions
from fencepost.harness.cli.control import ask, find_run
from fencepost.harness.cli.watch import watch as redraw
from fencepost.harness.terminal import terminal

NARROW = 100
"""Columns below which the table of nodes leaves out the connections, which `status --json` has."""
COLOURS = {"running": "green", "paused": "yellow", "exited": "red"}
STATES = {"active": "green", "fenced": "yellow", "inactive": "yellow", "gone": "red"}


def status(options: StatusOptions) -> None:
    """Print the status once, as JSON or as tables, or redraw it until Ctrl-C."""
    found, console = find_run(options.run), terminal()
    if options.as_json:
        print(json.dumps(ask(found, "status"), indent=2))
    elif options.watch and console.is_terminal:
        redraw(console, lambda: status_tables(ask(found, "status"), console.width, broken_first=True))
    else:
        console.print(status_tables(ask(found, "status"), console.width))


def status_tables(status: Mapping[str, Any], width: int = NARROW, *, broken_first: bool = False) -> RenderableType:
    """Return the tables for a reply of the control socket to `status`, for a terminal with `width` columns.

    What is broken stands at the end, beside the next prompt; or first, where the end may be out of sight.
    """
    return Group(*_status(status, width, broken_first))


def _status(status: Mapping[str, Any], width: int, broken_first: bool) -> Iterator[RenderableType]:
    yield f"[bold]{status['target']}[/bold] · {status['backend']}   clients {status['bootstrap']}"
    yield Text(status["run"], "dim")
    if broken_first:
        yield from _broken(status)
    yield _nodes(status, with_peers=width >= NARROW)
    if status["partitions"]:
        yield _partitions(status)
    if status["faults"]:
        faults = Table("fault", "kind", "aimed at", box=box.SIMPLE_HEAD)
        for fault in status["faults"]:
            faults.add_row(f"[red]{fault['name']}[/red]", fault["fault"], Text(aim(fault["targets"])))
        yield faults
    if not broken_first:
        yield from _broken(status)


def _broken(status: Mapping[str, Any]) -> Iterator[RenderableType]:
    messages = [*status["broken"], *status["problems"]]
    for message in messages:
        yield Text(message, "red")
    if not status["faults"]:
        yield "no fault is active" + ("" if messages else ", nothing is broken")


def _nodes(status: Mapping[str, Any], with_peers: bool) -> Table:
    peers = ("connected to",) if with_peers else ()
    nodes = Table("node", "roles", "process", "answers", "registered", "epoch", *peers, box=box.SIMPLE_HEAD)
    for node in status["nodes"]:
        state, registered = node["state"], node.get("registered", "")
        nodes.add_row(
            node["name"],
            node["roles"],
            Text(f"{state} {node['pid'] or ''}".strip(), COLOURS.get(state, "dim")),
            Text(node["says"], "bold" if node["says"] == "active controller" else ""),
            Text(registered, STATES.get(registered, "")),
            str(node.get("epoch", "")),
            *([" ".join(node["peers"])] if with_peers else []),
        )
    return nodes


def _partitions(status: Mapping[str, Any]) -> Table:
    """Return the table of partitions. Replicas out of sync stand in brackets."""
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
    """Return the links, nodes and files that a fault is aimed at, in one line."""
    links = [f"{link['from']} → {link['to']}" for link in targets.get("links", ())]
    others = [
        " ".join(map(str, value)) if isinstance(value, list) else str(value)
        for key, value in targets.items()
        if key != "links"
    ]
    return ", ".join([*links, *others])
