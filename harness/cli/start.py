"""`fencepost start`: nodes of the cluster that is up, started again after they ended."""

from __future__ import annotations

from fencepost.harness.cli.commands.interactive import StartOptions
from fencepost.harness.cli.control import ask, find_run


def start(options: StartOptions) -> None:
    """Start the nodes, or all that ended, and print their names."""
    started = ask(find_run(options.run), "start", nodes=options.nodes or [])
    print(f"started, and each answers: {', '.join(started)}" if started else "no node has ended")
