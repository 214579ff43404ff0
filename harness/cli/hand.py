"""Commands for a cluster to break by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli import completion
from harness.cli.targets import TargetArgument, TargetOption, named

if TYPE_CHECKING:
    from rich.console import Console

    from harness.engine.context import Context

PANEL = "By hand"
HELP = ("-h", "--help")
REDRAWN_EVERY = 0.5
RunOption = Annotated[
    Path | None,
    typer.Option("--run", help="Run folder of the cluster, if several are up.", autocompletion=completion.runs),
]
BackendOption = Annotated[
    str, typer.Option("--backend", help="How nodes are run: process or docker.", autocompletion=completion.backends)
]
Json = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output.")]


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(up)
    # A fault's options are its own, so they are taken as they come, and `--help` after its name is about it.
    words = {"ignore_unknown_options": True, "allow_extra_args": True}
    app.command(rich_help_panel=PANEL, add_help_option=False, context_settings=words)(inject)
    app.command(rich_help_panel=PANEL)(faults)
    app.command(rich_help_panel=PANEL)(heal)
    app.command(rich_help_panel=PANEL)(status)


def up(
    target: TargetArgument = None,
    option: TargetOption = None,
    backend: BackendOption = "process",
    zookeepers: Annotated[int, typer.Option(min=1, max=3, help="Servers of the ensemble, for a target around it.")] = 1,
    plain: Annotated[bool, typer.Option("--plain", help="Without disks and clocks that can be broken.")] = False,
    runs: Annotated[Path, typer.Option(help="Where its run folder goes.")] = Path("runs/by-hand"),
) -> None:
    """Start a cluster and hold it until Ctrl-C: three brokers, and three controllers or ZooKeeper.

    It has a topic `play`, and a second process for broker 4 that waits to be started (node-4b). Disks and clocks of its
    brokers can be broken where this machine can do that.

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
    import threading

    from harness.cli.byhand import ByHand, cluster_by_hand, described, plan_by_hand
    from harness.cli.control import ControlServer
    from harness.terminal import terminal

    console = terminal()
    plan = plan_by_hand(named(target, option), zookeepers, backend, plain=plain)
    console.print(f"starting {plan.target}: {described(plan)} …")
    with cluster_by_hand(plan, runs, backend) as context:
        server = ControlServer(context.cluster.folder.path, ByHand(context).operations())
        try:
            _greet(console, context)
            threading.Event().wait()
        except KeyboardInterrupt:
            console.print("ending it …")
        finally:
            server.close()


def _greet(console: Console, context: Context) -> None:
    from harness.cli.byhand import TOPIC

    others = "active-controller" if context.dialect.has_controllers else "zookeeper"
    console.print(f"[green]up[/green]       {context.plan.target}, run folder {context.cluster.folder.path}")
    console.print(f"clients  {context.cluster.bootstrap()}   topic {TOPIC}")
    console.print("break it from another terminal:")
    for example in (
        "fencepost status --watch",
        f"fencepost inject cut --from node-4 --to {others}",
        f"fencepost inject kill --nodes leader:{TOPIC}-0",
        "fencepost inject duplicate --node node-4b",
        "fencepost faults",
        "fencepost heal",
    ):
        console.print(f"         {example}")
    console.print("Ctrl-C ends it")


def inject(
    context: typer.Context,
    fault: Annotated[
        str | None,
        typer.Argument(metavar="FAULT", help="`fencepost faults` lists them.", autocompletion=completion.faults),
    ] = None,
    name: Annotated[str | None, typer.Option("--as", help="A name to heal it by.")] = None,
    run: RunOption = None,
) -> None:
    """Break the cluster that `fencepost up` holds, and prove that it is broken.

    Each fault has options of its own: [bold]fencepost inject slow --help[/bold]. Nodes are named node-4, brokers,
    controllers, active-controller, leader:play-0, followers:play-0, zookeeper, zookeeper-leader; clients are site:main.
    An option takes several, one after another.

    [bold]Examples[/bold]
      fencepost inject cut --from node-4 --to active-controller
      fencepost inject stall --from node-5 --to node-6 --streams replies
      fencepost inject slow --from node-4 --to node-5 --latency 200
      fencepost inject isolate --nodes node-1 --from node-2 node-3
      fencepost inject pause --nodes leader:play-0 --as nap
      fencepost inject kill --nodes node-5 --when '{says: "fenced", within_ms: 60000}'
    """
    from harness.cli import catalogue
    from harness.cli.control import ask, find_run

    if fault is None or fault in HELP:
        typer.echo(context.get_help())
        return
    known = catalogue.find(fault)
    if any(word in HELP for word in context.args):
        _show_fault(known)
        return
    params = catalogue.parse(known, context.args)
    catalogue.step_of(known, params, name or fault)  # what is wrong with the words is said without a cluster, too
    done = ask(find_run(run), "inject", fault=fault, params=params, name=name)
    typer.echo(f"{done['name']}: proven, {done['how']}")


def _show_fault(known: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    from harness.cli.catalogue import usage
    from harness.terminal import terminal

    console = terminal()
    console.print(f"\n Usage: {usage(known).strip('`')}\n", markup=False)
    console.print(Text(known.what), Text("\n" + known.models + "\n"), sep="\n")
    table = Table(box=None, pad_edge=True, show_header=False)
    for each in known.parameters:
        notes = "needed" if each.required else (f"default: {each.default}" if each.default else "")
        meaning = "  ".join(filter(None, [each.meaning, f"[{notes}]" if notes else ""]))
        table.add_row(Text(each.option, "bold cyan"), Text(each.takes, "yellow"), Text(meaning))
    console.print(table)
    console.print(f"\nneeds the capability {known.capability.value}: `fencepost faults` says whether it is there")


def faults(
    target: TargetArgument = None,
    option: TargetOption = None,
    backend: BackendOption = "process",
    as_json: Json = False,
) -> None:
    """List all faults: what each models, and what cannot be done here, with the reason.

    [bold]Examples[/bold]
      fencepost faults
      fencepost faults apache-kafka --backend docker
      fencepost inject slow --help          (about one of them)
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from harness.backends import check_name, lacking
    from harness.cli import catalogue
    from harness.targets.target import load_file
    from harness.terminal import terminal

    check_name(backend)
    file = load_file(named(target, option).partition(":")[0])
    rows = []
    for known in catalogue.known().values():
        missing = lacking(backend, known.capability)
        if known.capability not in file.capabilities:
            missing = f"{file.name} cannot do it (no `{known.capability.value}` in its file)"
        rows.append((known, missing))
    if as_json:
        said = [
            {"fault": known.name, "capability": known.capability.value, "models": known.models, "lacking": missing}
            for known, missing in rows
        ]
        typer.echo(json.dumps(said, indent=2))
        return
    table = Table("fault", "needs", "what it does", box=box.SIMPLE_HEAD)
    for known, missing in rows:
        text = Text(known.summary)
        if missing:
            text.stylize("dim")
            text.append(f"\nnot here: {missing}", "yellow")
        table.add_row(Text(known.name, "dim" if missing else "bold"), Text(known.capability.value), text)
    terminal().print(table)


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


def status(
    run: RunOption = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Redraw it in place until Ctrl-C.")] = False,
    as_json: Json = False,
) -> None:
    """Show the cluster that is up: nodes and how they answer, leaders, replicas in sync, epochs, faults.

    [bold]Examples[/bold]
      fencepost status
      fencepost status --watch
      fencepost status --json
    """
    from harness.cli.control import ask, find_run
    from harness.cli.tables import status_tables
    from harness.terminal import terminal

    found, console = find_run(run), terminal()
    if as_json:
        typer.echo(json.dumps(ask(found, "status"), indent=2))
    elif watch and console.is_terminal:
        _redraw(found, console)
    else:
        console.print(status_tables(ask(found, "status")))


def _redraw(run: Path, console: Console) -> None:
    """Until Ctrl-C, or until the cluster ends."""
    import time
    from contextlib import suppress

    from rich.live import Live

    from harness.cli.control import ask
    from harness.cli.tables import status_tables

    with suppress(KeyboardInterrupt), Live(console=console, auto_refresh=False) as live:
        while True:
            live.update(status_tables(ask(run, "status")), refresh=True)
            time.sleep(REDRAWN_EVERY)
