"""Processes die without a word."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Capability, Cluster, Evidence, Running
from faults.processes.process_fault import ProcessFault, await_ready


class Kill(ProcessFault):
    """SIGKILL to each node's process group, all at once. Healed by a restart on the same directory.

    `back` says when the restart counts: once each new process runs, or once it answers requests.

    Models a crash of the process. Does not model a crash of the machine: the kernel still writes what was handed to it,
    so nothing here says that fsync was called; and its connections end (FIN through the link), they do not go silent.
    """

    name: ClassVar[str] = "kill"
    capability: ClassVar[Capability] = Capability.KILL

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str], back: str = "ready") -> None:
        super().__init__(cluster, tuple(nodes))
        self.back = back

    def set_up(self) -> None:
        self.require_running("kill")

    def inject(self) -> None:
        self.at_once(self.cluster.processes.kill)

    def verify(self) -> Evidence:
        return self.await_status(
            lambda status: status.running is Running.EXITED and status.exit_code == -signal.SIGKILL,
            "the process table: each is gone, ended by SIGKILL",
        )

    def recover(self) -> None:
        """All at once: some targets have to wait before a node may start, and the nodes may need each other."""
        self.at_once(self.restart)

    def verify_healed(self) -> Evidence:
        if self.back == "ready":
            return await_ready(self.cluster, self.names)
        return self.await_status(lambda status: status.running is Running.RUNNING, "the process table: each runs again")
