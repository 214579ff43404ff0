"""Brokers that run elsewhere, and that a dead run left broken: the command of their owner that undoes it."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from fencepost.harness.cleaning.leftover import Leftover, RemovalError
from fencepost.harness.processes.resources import ResourceRecords, read_resources

SECONDS = 120


def of_run(run: Path) -> list[Leftover]:
    """Return the commands that a run still owes."""
    owed = [each for each in read_resources(run) if each.kind == "command"]
    return [Leftover("command", each.id, shlex.join(each.details["argv"]), (run, each)) for each in owed]


def remove(found: Sequence[Leftover]) -> None:
    """Run the commands. That one returned is all that is seen here: no broker is asked."""
    wrong = []
    for each in found:
        run, owed = each.handle
        try:
            done = subprocess.run(
                owed.details["argv"],
                cwd=owed.details["folder"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            wrong.append(f"{each} could not be run, do it by hand: {error}")
            continue
        if done.returncode != 0:
            wrong.append(f"{each} ended with {done.returncode}: bring the broker back by hand")
            continue
        ResourceRecords(run).gone("command", owed.id)
    RemovalError.unless_none(wrong)
