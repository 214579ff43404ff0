"""Brokers that run elsewhere, and that a dead run left broken: the command of their owner that undoes it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from fencepost.harness.cleaning.leftover import Leftover, RemovalError
from fencepost.harness.processes.owner_command import problem_of
from fencepost.harness.processes.resources import ResourceRecords, read_resources


def of_run(run: Path) -> list[Leftover]:
    """Return the commands that a run still owes."""
    owed = [each for each in read_resources(run) if each.kind == "command"]
    return [Leftover("command", each.id, shlex.join(each.details["argv"]), (run, each)) for each in owed]


def remove(found: Sequence[Leftover]) -> None:
    """Run the commands. That one returned is all that is seen here: no broker is asked."""
    wrong = []
    for each in found:
        run, owed = each.handle
        problem = problem_of(owed.details["argv"], owed.details["folder"])
        if problem is not None:
            wrong.append(f"{each} {problem}: bring the broker back by hand")
            continue
        ResourceRecords(run).gone("command", owed.id)
    RemovalError.unless_none(wrong)
