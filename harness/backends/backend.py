"""The interface of a backend, which runs the nodes of one cluster as processes or in containers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from fencepost.faults.capabilities import ProcessStatus
from fencepost.harness.processes.command import Command
from fencepost.harness.processes.table import Identity

SETTLE = 5.0
"""Seconds that a signal may take to show in the process table."""

OnExit = Callable[[str, int], None]
"""Called with the name and exit code of a process that its backend did not end, in a thread of the backend."""


class Backend(Protocol):
    """Starts, ends, pauses and resumes the processes of one run, by name.

    Each call waits, for a bounded time, until the kernel shows the requested state, and raises InfrastructureError if
    it does not.
    """

    def start(self, name: str, command: Command) -> Identity:
        """Start a process, append its output to its log, and return its identity in the process table."""

    def kill(self, name: str) -> None:
        """Send SIGKILL to the process and all that it started; return once the process table has none of it."""

    def terminate(self, name: str) -> None:
        """Send SIGTERM and return at once; `OnExit` reports the end."""

    def await_end(self, name: str, timeout: float) -> bool:
        """Wait for the end of the process. Return False if it is alive after `timeout` seconds."""

    def pause(self, name: str) -> None:
        """Stop every thread of the process, without a signal that it could handle."""

    def resume(self, name: str) -> None: ...

    def status(self, name: str) -> ProcessStatus:
        """Return the status; the pid is that of this machine, also for a container."""

    def pids(self) -> Mapping[str, Sequence[int]]:
        """Return the pids, of this machine, of each process and all that it started, as far as they live."""

    def log(self, name: str) -> Path: ...

    def exit_summary(self, name: str) -> str:
        """Return a message about the end of the process, with the last lines of its log."""

    def stop_all(self) -> None:
        """End all processes of this backend, the newest first, paused ones included."""
