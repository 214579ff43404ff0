"""`fencepost doctor`: which mechanisms work on this machine."""

from __future__ import annotations

import psutil

from fencepost.harness.cli.commands.machine import DoctorOptions
from fencepost.harness.cli.signals import at_once
from fencepost.harness.doctor import main


def doctor(options: DoctorOptions) -> int:
    """Examine the machine and print the result; return 0 if runs on the process backend can start, otherwise 2."""
    with at_once(_end_children):
        return main(options.as_json)


def _end_children() -> None:
    """Kill the processes that probes started. A probe ends them itself if it is given the time."""
    for child in psutil.Process().children(recursive=True):
        child.kill()
