"""A run in progress, as the steps of its plan see it. The engine brings what is described here.

A method that resolves a reference or a value waits a few seconds for a role without a node, or for a state that is
unknown, and raises StepError if it stays so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from fencepost.faults.capabilities import Processes
from fencepost.harness.plan.asked import Connection
from fencepost.harness.plan.base import After, Release, Value
from fencepost.harness.plan.observed import Resolved
from fencepost.results.records.journal import JournalWriter

if TYPE_CHECKING:
    from fencepost.harness.plan.steps.produce import Produce

READY_WITHIN = 60.0
"""Seconds for a node that a step starts to answer."""


class Performed(Resolved, Protocol):
    """The references and values of the plan, and the changes of a run that a step can make."""

    @property
    def processes(self) -> Processes: ...

    @property
    def journal(self) -> JournalWriter: ...

    def isr_version(self, value: Value, partition: str) -> int:
        """Return the version of the ISR of `partition` that a plan's value stands for."""

    def controller_epoch(self, value: Value) -> int:
        """Return the controller epoch that a plan's value stands for."""

    def bind(self, name: str, value: Any) -> None:
        """Let `$name` stand for a value from now on."""

    def set_version(self, node: str, release: Release | None, level: str | None) -> None:
        """Give the node a release and a protocol level from its next start on. None leaves it as it is."""

    def await_release(self, node: str, release: Release, seconds: float) -> str:
        """Wait until the node's log says that it runs a release, and return its version. StepError if it does not."""

    def back_up(self, node: str, name: str) -> Mapping[str, object]:
        """Copy the log directories of a node, and return what the journal gets of the copy."""

    def change_znode(self, action: str, path: str, data: str, *, sequence: bool) -> str:
        """Change a znode, and return its path. StepError if no server takes the change, or ZooKeeper refuses it."""

    def start_clients(self, names: Sequence[str]) -> None:
        """Start clients of the workload; all without names."""

    def stop_clients(self, names: Sequence[str]) -> None:
        """Stop clients of the workload; all without names."""

    def burst(self, name: str, step: Produce) -> tuple[int, int]:
        """Produce through the workload's client; return how many records were sent, and acknowledged."""

    def connect(self, node: str, seconds: float) -> AbstractContextManager[Connection]:
        """Connect to the listener of a broker for clients. Raise NoAnswer if that fails."""

    def describe(self, name: str) -> Mapping[str, Any]:
        """Take a checkpoint of what all nodes describe, and return what the journal gets of it."""

    def heal(self, fault: str) -> None:
        """Undo a fault and prove that it is gone. Raise FaultError otherwise."""

    def heal_all(self) -> Sequence[str]:
        """Undo all faults; return a message for each that is not proven to be gone."""

    def sleep_until(self, after: After) -> None:
        """Wait until an instant."""
