"""`fencepost inject`: a fault for the cluster that is up, or the help of a fault."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from fencepost.harness.cli import catalogue
from fencepost.harness.cli.command import flow
from fencepost.harness.cli.commands.interactive import InjectOptions
from fencepost.harness.cli.control import ask, find_run
from fencepost.harness.terminal import terminal

HELP = ("-h", "--help")


def inject(options: InjectOptions) -> None:
    """Inject a fault with the options in `context.args`, or show the help of the command or of the fault."""
    if options.fault is None or options.fault in HELP:
        print(options.context.get_help())
        return
    known = catalogue.find(options.fault)
    if any(word in HELP for word in options.context.args):
        show_fault(known)
        return
    params = catalogue.parse(known, options.context.args)
    catalogue.step_of(known, params, options.name or options.fault)  # wrong options are refused without a cluster, too
    done = ask(find_run(options.run), "inject", fault=options.fault, params=params, name=options.name)
    print(f"{done['name']}: proven, {done['how']}")


def show_fault(known: catalogue.FaultHelp) -> None:
    """Print how to inject the fault, what it models, and its options."""
    console = terminal()
    console.print(f"\n Usage: {catalogue.usage(known).strip('`')}\n", markup=False)
    console.print(Text(flow(known.what)), Text("\n" + flow(known.models) + "\n"), sep="\n")
    table = Table(box=None, pad_edge=True, show_header=False)
    for each in known.parameters:
        note = "required" if each.required else (f"default: {each.default}" if each.default else "")
        meaning = "  ".join(filter(None, [each.meaning, f"[{note}]" if note else ""]))
        table.add_row(Text(each.option, "bold cyan"), Text(each.takes, "yellow"), Text(meaning))
    console.print(table)
    console.print(
        f"\nIt needs the capability {known.capability.value}: `fencepost faults` shows whether that is available here."
    )
