"""Commands that hold a cluster and break it from another terminal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fencepost.harness.cli import completion
from fencepost.harness.cli.command import CommandOptions
from fencepost.harness.cli.options import Backend, InteractiveRun, Json, TargetArgument, TargetOption


@dataclass(frozen=True)
class UpOptions(CommandOptions):
    """Start a cluster and hold it until Ctrl-C: three brokers, and three controllers or ZooKeeper.

    The cluster has a topic `play`, and a second process for broker 4 that is not started yet (node-4b). The disks and
    clocks of its brokers can be broken if this machine supports it.

    [bold]Examples[/bold]
      fencepost up
      fencepost up apache-kafka --backend docker
      fencepost up zk-controller --zookeepers 3

    [bold]And then, in another terminal[/bold]
      fencepost status --watch
      fencepost inject cut --from node-4 --to active-controller
      fencepost heal
      kcat -b 127.20.0.1:9092 -t play -P            (with the address that `up` prints)
    """

    target: TargetArgument = None
    option: TargetOption = None
    backend: Backend = "process"
    zookeepers: Annotated[
        int,
        typer.Option(min=1, max=3, metavar="N", help="ZooKeeper servers to start, for a target that uses ZooKeeper."),
    ] = 1
    plain: Annotated[
        bool, typer.Option("--plain", help="Start the cluster without disks and clocks that can be broken.")
    ] = False
    runs: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the run folder of the cluster.")] = Path(
        "runs/interactive"
    )

    def perform(self) -> None:
        from fencepost.harness.cli.interactive import up

        up(self)


@dataclass(frozen=True)
class InjectOptions(CommandOptions):
    """Inject a fault into the cluster that `fencepost up` holds, and prove that it took effect.

    Each fault has its own options: [bold]fencepost inject slow --help[/bold]. An option takes several values, one after
    another. Nodes are named node-4, brokers, controllers, active-controller, leader:play-0, followers:play-0,
    zookeeper or zookeeper-leader. Clients are named site:main.

    [bold]Examples[/bold]
      fencepost inject cut --from node-4 --to active-controller
      fencepost inject stall --from node-5 --to node-6 --streams replies
      fencepost inject slow --from node-4 --to node-5 --latency 200
      fencepost inject isolate --node node-1 --from node-2 node-3
      fencepost inject pause --node leader:play-0 --as nap
      fencepost inject kill --node node-5 --when '{says: "fenced"}'
    """

    takes_any_option = True  # those of the fault; `inject slow --help` is about it

    context: typer.Context
    fault: Annotated[
        str | None,
        typer.Argument(
            metavar="FAULT", help="The kind of fault. `fencepost faults` lists them.", autocompletion=completion.faults
        ),
    ] = None
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Name of this fault, for `fencepost heal NAME`.")
    ] = None
    run: InteractiveRun = None

    def perform(self) -> None:
        from fencepost.harness.cli.faults import inject

        inject(self)


@dataclass(frozen=True)
class FaultsOptions(CommandOptions):
    """List all faults: what each one models, and why a fault is not available here.

    [bold]Examples[/bold]
      fencepost faults
      fencepost faults apache-kafka --backend docker
      fencepost inject slow --help          (the options of one fault)
    """

    target: TargetArgument = None
    option: TargetOption = None
    backend: Backend = "process"
    as_json: Json = False

    def perform(self) -> None:
        from fencepost.harness.cli.faults import faults

        faults(self)


@dataclass(frozen=True)
class HealOptions(CommandOptions):
    """Undo faults of the cluster that is up, and prove that they are gone.

    A node that ended by itself, for example because its disk failed, is not brought back by healing: its name and how
    it ended are printed.

    [bold]Examples[/bold]
      fencepost heal
      fencepost heal nap
      fencepost heal --start
    """

    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Name of one fault. Default: all faults.", autocompletion=completion.active_faults
        ),
    ] = None
    run: InteractiveRun = None
    start: Annotated[
        bool, typer.Option("--start", help="Also start the nodes that ended and that no fault brings back.")
    ] = False

    def perform(self) -> None:
        from fencepost.harness.cli.control import ask, find_run

        run = find_run(self.run)
        done = ask(run, "heal", name=self.name)
        healed, ended = done["healed"], done["ended"]
        print(f"healed: {', '.join(healed)}" if healed else "no fault was active")
        if ended and self.start:
            print(f"started, and each answers: {', '.join(ask(run, 'start', nodes=list(ended)))}")
        elif ended:
            print("not brought back, because these ended by themselves:")
            for message in ended.values():
                print(f"  {message}")
            again = f"`fencepost start {' '.join(ended)}`, or `fencepost heal --start`"
            print(f"start again on the data that is there: {again}")


@dataclass(frozen=True)
class StartOptions(CommandOptions):
    """Start nodes of the cluster that is up again, on the data that they left, and wait until they answer.

    [bold]Examples[/bold]
      fencepost start node-5
      fencepost start                   (all that ended)
    """

    nodes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NODE",
            help="Nodes that ended. Default: all that no fault brings back.",
            autocompletion=completion.ended_nodes,
        ),
    ] = None
    run: InteractiveRun = None

    def perform(self) -> None:
        from fencepost.harness.cli.control import ask, find_run

        started = ask(find_run(self.run), "start", nodes=self.nodes or [])
        print(f"started, and each answers: {', '.join(started)}" if started else "no node has ended")


@dataclass(frozen=True)
class StatusOptions(CommandOptions):
    """Show the cluster that is up: nodes and how they answer, leaders, replicas in sync, epochs, faults.

    [bold]Examples[/bold]
      fencepost status
      fencepost status --watch
      fencepost status --json
    """

    run: InteractiveRun = None
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Redraw the status in place until Ctrl-C.")] = False
    as_json: Json = False

    def perform(self) -> None:
        from fencepost.harness.cli.status import status

        status(self)
