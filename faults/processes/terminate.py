"""Processes are asked to end, as an operator ends them."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Capability, Cluster, Evidence, Running
from faults.processes.process_fault import ProcessFault, await_ready, measured

ORDERLY = (0, 128 + signal.SIGTERM, -signal.SIGTERM)
"""Exit codes of who ends because it was asked to; a JVM says 143."""


class Terminate(ProcessFault):
    """SIGTERM to each node's process, all at once. Healed by a restart on the same directory.

    Models an operator's stop, or an orchestrator that moves a node. What is done before the end is the target's: where
    it has a controlled shutdown it hands over what it leads, and closes its logs. Does not model an orchestrator whose
    patience ends (SIGKILL after so many seconds): `within_ms` is how long it may take, and a node that takes longer
    leaves the fault unproven. Proven from the process table: gone, and by an exit code that answers SIGTERM.
    """

    name: ClassVar[str] = "terminate"
    capability: ClassVar[Capability] = Capability.TERMINATE

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str], within_ms: int = 60_000) -> None:
        super().__init__(cluster, tuple(nodes))
        self.within_ms = within_ms
        self._asked: dict[str, int | None] = {}

    def set_up(self) -> None:
        self.require_running("terminate")

    def inject(self) -> None:
        self._asked = {name: self.cluster.processes.status(name).pid for name in self.names}
        self.at_once(self.cluster.processes.shut_down)

    def verify(self) -> Evidence:
        began = time.monotonic()
        self._await_ends()
        found = {name: self.cluster.processes.status(name) for name in self.names}
        proven = all(each.running is Running.EXITED and each.exit_code in ORDERLY for each in found.values())
        data = {**measured(found), "seconds": round(time.monotonic() - began, 3)}
        return Evidence(proven, "the process table: each ended by itself, as who is asked to", data)

    def recover(self) -> None:
        """Who is still ending is waited for: it would be down again soon after its restart. Its successor is not."""
        self._await_ends()
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)

    def _await_ends(self) -> None:
        deadline = time.monotonic() + self.within_ms / 1000
        for name, pid in self._asked.items():
            status = self.cluster.processes.status(name)
            if status.pid == pid and status.running is not Running.EXITED:
                self.cluster.processes.await_end(name, max(0.0, deadline - time.monotonic()))
