"""What runs the nodes of one cluster: as processes of this machine, or in containers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from faults.capabilities import ProcessStatus
from harness.processes.table import Identity

SETTLE = 5.0
"""Seconds that a signal may take to show in the process table."""

OnExit = Callable[[str, int], None]
"""Told the name and the exit code of what ended and was not ended by its backend, from a thread of the backend's."""


@dataclass(frozen=True)
class Command:
    """How to start one process. `environment` is added to that of the harness, or of a container's image."""

    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


class Backend(Protocol):
    """Starts, ends, stops and continues what one run is made of, by name.

    Nothing is believed because a call returned: each waits, for a bounded time, until the kernel shows what was asked
    for, and raises InfrastructureError with a sentence if it does not.
    """

    def start(self, name: str, command: Command) -> Identity:
        """Start it; its output is appended to its log. Who it is in the process table of this machine."""

    def kill(self, name: str) -> None:
        """SIGKILL to all that belongs to it; returns when the process table no longer has any of it."""

    def terminate(self, name: str) -> None:
        """SIGTERM to the process itself, and return: its end is reported as one of its own."""

    def await_end(self, name: str, timeout: float) -> bool:
        """Until it has ended, however it did. False if it lives on after `timeout` seconds."""

    def pause(self, name: str) -> None:
        """Nothing of it runs any more when this returns, and nothing of it knows."""

    def resume(self, name: str) -> None: ...

    def status(self, name: str) -> ProcessStatus:
        """The pid is that of this machine's process table, also for what runs in a container."""

    def log(self, name: str) -> Path: ...

    def obituary(self, name: str) -> str:
        """A sentence about how it ended, with the last lines of its log."""

    def stop_all(self) -> None:
        """End everything that was started here, the last first, and what is paused as well."""
