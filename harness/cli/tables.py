"""What `fencepost status` shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table

COLOURS = {"running": "green", "paused": "yellow", "exited": "red"}


def status_tables(status: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The reply of the control socket to `status`, as tables."""
    yield f"[bold]{status['target']}[/bold]  clients {status['bootstrap']}\n{status['run']}"
    nodes = Table("node", "roles", "state", "pid", "connected to", box=box.SIMPLE_HEAD)
    for node in status["nodes"]:
        colour = COLOURS.get(node["state"], "dim")
        nodes.add_row(
            node["name"],
            node["roles"],
            f"[{colour}]{node['state']}[/{colour}]",
            str(node["pid"] or ""),
            " ".join(node["peers"]),
        )
    yield nodes
    if status["faults"]:
        faults = Table("fault", "kind", "what", box=box.SIMPLE_HEAD)
        for fault in status["faults"]:
            faults.add_row(fault["name"], fault["fault"], aim(fault["targets"]))
        yield faults
    else:
        yield "nothing is broken"
    for problem in status["problems"]:
        yield f"[red]{problem}[/red]"


def aim(targets: Mapping[str, Any]) -> str:
    """What a fault is aimed at, in a line."""
    links = [f"{link['from']} → {link['to']}" for link in targets.get("links", ())]
    others = [
        " ".join(value) if isinstance(value, list) else str(value) for key, value in targets.items() if key != "links"
    ]
    return ", ".join([*links, *others])
