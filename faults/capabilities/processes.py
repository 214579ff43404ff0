"""Nodes as processes: started, ended, stopped; and the second process of a broker id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from signal import Signals
from typing import Protocol

from fencepost.faults.capabilities.base import Evidence


class Running(Enum):
    """The state of a node in the process table."""

    NEVER_STARTED = "never started"
    RUNNING = "running"
    PAUSED = "paused"
    EXITED = "exited"


ORDERLY = (0, 128 + Signals.SIGTERM, -Signals.SIGTERM)
"""The exit codes of a process that ends on request; a JVM exits with 143."""


@dataclass(frozen=True)
class ProcessStatus:
    """`started` is the process's start time in unix seconds: with the pid it names one process for ever.

    `exit_code` is negative for a signal, as in subprocess; None while it runs.
    """

    running: Running
    pid: int | None = None
    started: float | None = None
    exit_code: int | None = None
    seen: Evidence | None = None
    """How the state was measured, of a node that runs elsewhere; the process table does not have it."""


def exit_in_words(exit_code: int | None) -> str:
    """Describe the end of a process: `exit code 1`, `signal SIGKILL`."""
    if exit_code is None:
        return "an unknown exit code"
    return f"signal {Signals(-exit_code).name}" if exit_code < 0 else f"exit code {exit_code}"


class Processes(Protocol):
    """Start and break the processes of nodes."""

    def start(self, node: str) -> None:
        """Start the node's process, on the directory that it left; does not wait for it."""

    def await_ready(self, node: str, timeout: float, since: float | None = None) -> None:
        """Wait until the node answers requests, fenced or not.

        `since` (monotonic) is the time from which several nodes have `timeout` seconds together; one of which the time
        is over is asked once more. Raise CapabilityError with its last log lines if it does not answer.
        """

    def kill(self, node: str) -> None:
        """SIGKILL to the whole process group; returns when it is gone from the process table."""

    def shut_down(self, node: str) -> None:
        """SIGTERM, and return at once: it ends by itself, when it has done what it does before."""

    def is_orderly(self, exit_code: int | None) -> bool:
        """Return whether a process that ended so has ended on request: by `ORDERLY`, or as its target says."""

    def await_end(self, node: str, timeout: float) -> bool:
        """Wait for the end of its process, however it ends. Return False if it lives on after `timeout` seconds."""

    def said(self, node: str) -> Sequence[str]:
        """The lines that its process wrote to its log since it was started, so far."""

    def pause(self, node: str) -> None:
        """SIGSTOP; returns when the process table shows it stopped."""

    def resume(self, node: str) -> None:
        """SIGCONT."""

    def status(self, node: str) -> ProcessStatus: ...

    def peers(self, node: str) -> frozenset[str]:
        """The nodes to which the process has an established connection through its links, now."""


class Duplicates(Protocol):
    """Start the second process that the topology holds ready for a broker id."""

    def start_duplicate(self, node: str) -> None:
        """Start it on an empty directory, a clone of the original's, or the original's own, as the plan says."""

    def shares_directory(self, node: str) -> bool:
        """Return whether it is started on the very directory of the node that it duplicates."""

    def stop_duplicate(self, node: str) -> None:
        """SIGKILL; what it wrote stays."""
