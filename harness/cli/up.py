"""`fencepost up`: a cluster that is held until Ctrl-C."""

from __future__ import annotations

import threading

from rich.console import Console

from fencepost.harness.cli.commands.interactive import UpOptions
from fencepost.harness.cli.control import ControlServer
from fencepost.harness.cli.interactive import (
    TOPIC,
    InteractiveFaults,
    described,
    interactive_cluster,
    interactive_plan,
)
from fencepost.harness.cli.options import chosen_target
from fencepost.harness.engine.context import Context
from fencepost.harness.terminal import terminal


def up(options: UpOptions) -> None:
    """Start the cluster, print how to reach and break it, and answer other terminals until Ctrl-C."""
    console = terminal()
    plan = interactive_plan(
        chosen_target(options.target, options.option), options.zookeepers, options.backend, plain=options.plain
    )
    console.print(f"starting {plan.target}: {described(plan)} …")
    with interactive_cluster(plan, options.runs, options.backend) as context:
        server = ControlServer(context.cluster.folder.path, InteractiveFaults(context).operations())
        try:
            _greet(console, context)
            threading.Event().wait()
        except KeyboardInterrupt:
            console.print("ending the cluster …")
        finally:
            server.close()


def _greet(console: Console, context: Context) -> None:
    others = "active-controller" if context.references.dialect.has_controllers else "zookeeper"
    console.print(f"[green]up[/green]       {context.plan.target}, run folder {context.cluster.folder.path}")
    console.print(f"clients  {context.cluster.bootstrap()}   topic {TOPIC}")
    console.print("break it from another terminal:")
    for example in (
        "fencepost status --watch",
        f"fencepost inject cut --from node-4 --to {others}",
        f"fencepost inject kill --node leader:{TOPIC}-0",
        "fencepost inject duplicate --node node-4b",
        "fencepost faults",
        "fencepost heal",
    ):
        console.print(f"         {example}")
    console.print("Ctrl-C ends the cluster")
