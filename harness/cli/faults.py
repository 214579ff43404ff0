"""`fencepost faults`: all faults, and why a fault is not available here."""

from __future__ import annotations

import json

from rich import box
from rich.table import Table
from rich.text import Text

from fencepost.harness.backends import check_name
from fencepost.harness.cli import catalogue
from fencepost.harness.cli.commands.interactive import FaultsOptions
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
