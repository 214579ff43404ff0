"""`fencepost faults` and `fencepost inject`: what each fault models and needs, and one for the cluster that is up."""

from __future__ import annotations

import json

from rich import box
from rich.table import Table
from rich.text import Text

from fencepost.harness.backends import check_name
from fencepost.harness.cli import catalogue
from fencepost.harness.cli.command import flow
from fencepost.harness.cli.commands.interactive import FaultsOptions, InjectOptions
from fencepost.harness.cli.control import ask, find_run
from fencepost.harness.cli.options import chosen_target
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.targets.registry import load
from fencepost.harness.terminal import terminal


def faults(options: FaultsOptions) -> None:
    """Print the faults as a table, or as JSON."""
    check_name(options.backend)
    file = load(chosen_target(options.target, options.option)).file
    rows = []
    for known in catalogue.known().values():
        reason = unavailable_reason(options.backend, known.capability)
        if known.capability not in file.capabilities:
            reason = f"{file.name} does not support it (no `{known.capability.value}` in its target file)"
        rows.append((known, reason))
    if options.as_json:
        listed = [
            {
                "fault": known.name,
                "capability": known.capability.value,
                "models": known.models,
                "unavailable_reason": reason,
            }
            for known, reason in rows
        ]
        print(json.dumps(listed, indent=2))
        return
    table = Table("fault", "needs", "what it models", box=box.SIMPLE_HEAD)
    for known, reason in rows:
        text = Text(known.summary)
        if reason:
            text.stylize("dim")
            text.append(f"\nnot available here: {reason}", "yellow")
        table.add_row(Text(known.name, "dim" if reason else "bold"), Text(known.capability.value), text)
    terminal().print(table)


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
