"""`fencepost start`: nodes of the cluster that is up, started again after they ended."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.cli.control import ask, find_run


def start(nodes: list[str] | None, run: Path | None) -> None:
    """Start the nodes, or all that ended, and print their names."""
    started = ask(find_run(run), "start", nodes=nodes or [])
    print(f"started, and each answers: {', '.join(started)}" if started else "no node has ended")
