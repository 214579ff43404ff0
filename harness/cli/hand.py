"""Commands for a cluster to break by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

PANEL = "By hand"
RunOption = Annotated[Path | None, typer.Option("--run", help="Run folder of the cluster, if several are up.")]


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(up)
    app.command(rich_help_panel=PANEL)(inject)
    app.command(rich_help_panel=PANEL)(heal)
    app.command(rich_help_panel=PANEL)(status)


def up(
    target: Annotated[
        str | None,
        typer.Argument(help="quorum (unless another is named), zk-controller, leader-driven, apache-kafka:3.9.1"),
    ] = None,
    option: Annotated[str | None, typer.Option("--target", metavar="TARGET", help="The same, as elsewhere.")] = None,
    zookeepers: Annotated[int, typer.Option(min=1, max=3, help="Servers of the ensemble, for a target around it.")] = 1,
    runs: Annotated[Path, typer.Option(help="Where its run folder goes.")] = Path("runs/by-hand"),
) -> None:
    """Start a cluster and hold it until Ctrl-C: three brokers, and three controllers or ZooKeeper.

    [bold]Examples[/bold]
      fencepost up apache-kafka
      fencepost up zk-controller --zookeepers 3
      fencepost inject cut --from node-4 --to controllers     (in another terminal)
      fencepost status
      fencepost heal
    """
    import threading

    from harness.cli.byhand import ByHand, cluster_by_hand, described, plan_by_hand
    from harness.cli.control import ControlServer
    from harness.terminal import terminal

    console = terminal()
    plan = plan_by_hand(target or option or "quorum", zookeepers)
    others = "zookeeper" if plan.topology.nodes[0].roles == ("zookeeper",) else "controllers"
    console.print(f"starting {plan.target}: {described(plan)} …")
    with cluster_by_hand(plan, runs) as cluster:
        server = ControlServer(cluster.folder.path, ByHand(cluster).operations())
        try:
            console.print(f"[green]up[/green]       {plan.target}, run folder {cluster.folder.path}")
            console.print(f"clients  {cluster.bootstrap()}")
            console.print("break it from another terminal:")
            for example in (
                f"fencepost inject cut --from node-4 --to {others}",
                "fencepost inject one-way --from node-6 --to node-4",
                "fencepost inject kill --nodes node-5",
                "fencepost inject duplicate --node node-4b",
                "fencepost status",
                "fencepost heal",
            ):
                console.print(f"         {example}")
            console.print("Ctrl-C ends it")
            threading.Event().wait()
        except KeyboardInterrupt:
            console.print("ending it …")
        finally:
            server.close()


def inject(
    fault: Annotated[str, typer.Argument(help="stall, cut, one-way, isolate, kill, pause, duplicate, log-dir")],
    from_: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="NODE", help="Source nodes, controllers, brokers, zookeeper, site:main."),
    ] = None,
    to: Annotated[list[str] | None, typer.Option(metavar="NODE", help="Destination nodes.")] = None,
    nodes: Annotated[list[str] | None, typer.Option(metavar="NODE", help="Nodes to isolate, kill or pause.")] = None,
    node: Annotated[
        str | None, typer.Option(help="The duplicate to start (node-4b), or whose log directory fails.")
    ] = None,
    streams: Annotated[str | None, typer.Option(help="Of stall: both, requests or replies.")] = None,
    how: Annotated[str | None, typer.Option(help="Of isolate: cut or stall. Of log-dir: replaced or removed.")] = None,
    partition: Annotated[str | None, typer.Option(help="Of log-dir: the directory that holds it, t-0.")] = None,
    dir: Annotated[int | None, typer.Option(help="Of log-dir: the directory, counted from 0.")] = None,
    name: Annotated[str | None, typer.Option("--as", help="A name to heal it by.")] = None,
    run: RunOption = None,
) -> None:
    """Break the cluster that `fencepost up` holds, and prove that it is broken.

    [bold]Examples[/bold]
      fencepost inject cut --from node-4 --to controllers
      fencepost inject stall --from node-5 --to node-6 --streams replies
      fencepost inject isolate --nodes node-1 --from node-2 --from node-3
      fencepost inject pause --nodes node-4 --as nap
      fencepost inject log-dir --node node-5 --dir 1
    """
    from harness.cli.control import ask, find_run

    given: dict[str, Any] = {
        "from": from_,
        "to": to,
        "nodes": nodes,
        "node": node,
        "streams": streams,
        "how": how,
        "partition": partition,
        "dir": dir,
    }
    params = {key: value for key, value in given.items() if value not in (None, [])}
    done = ask(find_run(run), "inject", fault=fault, params=params, name=name)
    typer.echo(f"{done['name']}: proven, {done['how']}")


def heal(
    name: Annotated[str | None, typer.Argument(help="One fault; without it, all.")] = None, run: RunOption = None
) -> None:
    """Undo faults of the cluster that is up, and prove that they are gone.

    [bold]Examples[/bold]
      fencepost heal
      fencepost heal nap
    """
    from harness.cli.control import ask, find_run

    healed = ask(find_run(run), "heal", name=name)
    typer.echo(f"healed: {', '.join(healed)}" if healed else "nothing was broken")


def status(run: RunOption = None) -> None:
    """Show the nodes, connections and faults of the cluster that is up.

    [bold]Example[/bold]
      fencepost status
    """
    from harness.cli.control import ask, find_run
    from harness.cli.tables import status_tables
    from harness.terminal import terminal

    terminal().print(*status_tables(ask(find_run(run), "status")), sep="\n")
