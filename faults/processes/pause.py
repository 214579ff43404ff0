"""Processes stop in the middle of whatever they do, and later go on as if nothing had been."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Capability, Cluster, Evidence, Running
from faults.processes.process_fault import ProcessFault, await_ready


class Pause(ProcessFault):
    """SIGSTOP to each node's process group; SIGCONT heals.

    Models a long garbage collection, a suspended virtual machine, an overloaded host. The kernel goes on accepting
    connections and bytes for it, so a successful connect proves nothing. Does not stop the clock: when it wakes, its
    monotonic time has moved on.
    """

    name: ClassVar[str] = "pause"
    capability: ClassVar[Capability] = Capability.PAUSE

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str]) -> None:
        super().__init__(cluster, tuple(nodes))

    def set_up(self) -> None:
        self.require_running("pause")

    def inject(self) -> None:
        self.at_once(self.cluster.processes.pause)

    def verify(self) -> Evidence:
        return self.await_status(
            lambda status: status.running is Running.PAUSED, "the process table: each is stopped (T)"
        )

    def recover(self) -> None:
        for name in self.names:
            if self.cluster.processes.status(name).running is Running.PAUSED:
                self.cluster.processes.resume(name)

    def verify_healed(self) -> Evidence:
        return await_ready(self.cluster, self.names)
