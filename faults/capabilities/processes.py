"""Nodes as processes: started, ended, stopped; and the second process of a broker id."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Running(Enum):
    """What the process table says of a node."""

    NEVER_STARTED = "never started"
    RUNNING = "running"
    PAUSED = "paused"
    EXITED = "exited"


@dataclass(frozen=True)
class ProcessStatus:
    """`started` is the process's start time in unix seconds: with the pid it names one process for ever.

    `exit_code` is negative for a signal, as in subprocess; None while it runs.
    """

    running: Running
    pid: int | None = None
    started: float | None = None
    exit_code: int | None = None


class Processes(Protocol):
    """Start and break the processes of nodes."""

    def start(self, node: str) -> None:
        """Start the node's process, on the directory that it left; does not wait for it."""

    def await_ready(self, node: str, timeout: float) -> None:
        """Until the node answers requests (fenced or not). CapabilityError with its last log lines if it does not."""

    def kill(self, node: str) -> None:
        """SIGKILL to the whole process group; returns when it is gone from the process table."""

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
        """With a directory that is empty, or cloned from the node it duplicates, as the plan says."""

    def stop_duplicate(self, node: str) -> None:
        """SIGKILL; what it wrote stays."""
