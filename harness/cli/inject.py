"""`fencepost inject`: a fault for the cluster that is up, or the help of a fault."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from fencepost.harness.cli import catalogue
from fencepost.harness.cli.control import ask, find_run
from fencepost.harness.cli.lazy import flow
from fencepost.harness.terminal import terminal

HELP = ("-h", "--help")


def inject(context: typer.Context, fault: str | None, name: str | None, run: Path | None) -> None:
    """Inject a fault with the options in `context.args`, or show the help of the command or of the fault."""
    if fault is None or fault in HELP:
        print(context.get_help())
        return
    known = catalogue.find(fault)
    if any(word in HELP for word in context.args):
        show_fault(known)
        return
    params = catalogue.parse(known, context.args)
    catalogue.step_of(known, params, name or fault)  # wrong options are refused without a cluster, too
    done = ask(find_run(run), "inject", fault=fault, params=params, name=name)
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
