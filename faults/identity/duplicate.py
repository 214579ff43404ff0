"""A second process claims the id of a node that runs."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import ClassVar

from faults.capabilities import Capability, CapabilityError, Cluster, Evidence, Running
from faults.processes.process_fault import READY_PATIENCE, ProcessFault, measured

REFUSED_WITHIN = 30.0
"""Seconds for a process to find out that its directory is in use: a JVM on a busy machine takes ten."""
IN_USE = re.compile(r"(?i)in use|lock|using this directory|claimed by another process")
"""How a server says that another process has its directory; or its id, where that is asked for first."""


class Duplicate(ProcessFault):
    """Start the process that the topology holds ready for the id, with addresses and links of its own.

    Models a copied configuration, or an orchestrator that starts a replacement too early: of a broker, or of a
    controller. Its directory is empty, a clone of the elder's (a copied volume), or the elder's own (a volume that two
    hosts mount). Proven when it runs and has a connection to another node: whether it is let in is what the story asks.
    On the elder's directory it should never get so far; there the proof is that it ended by itself, and what it said of
    the directory, or of the id. Healed by ending it.

    Does not model two machines on one directory: there a lock of the kernel's may not be seen (some network file
    systems), and both would write.
    """

    name: ClassVar[str] = "duplicate"
    capability: ClassVar[Capability] = Capability.DUPLICATE

    def __init__(self, cluster: Cluster, *, node: str) -> None:
        super().__init__(cluster, (node,))

    @property
    def node(self) -> str:
        return self.names[0]

    def set_up(self) -> None:
        status = self.cluster.processes.status(self.node)
        if status.running in (Running.RUNNING, Running.PAUSED):
            raise CapabilityError(f"{self.node} is {status.running.value} already")

    def inject(self) -> None:
        self.cluster.duplicates.start_duplicate(self.node)

    def verify(self) -> Evidence:
        if self.cluster.duplicates.shares_directory(self.node):
            return self._verify_refused()
        deadline = time.monotonic() + READY_PATIENCE
        while True:
            status = self.cluster.processes.status(self.node)
            peers = self.cluster.processes.peers(self.node) if status.running is Running.RUNNING else frozenset()
            over = status.running is Running.EXITED or time.monotonic() > deadline
            if peers or over:
                found: Mapping[str, object] = {**measured({self.node: status}), "peers": sorted(peers)}
                return Evidence(bool(peers), "the process table and its open connections to other nodes", found)
            time.sleep(0.02)

    def _verify_refused(self) -> Evidence:
        """That it runs on, connected, is proof as well, though of more than was asked for: nobody kept it from it."""
        self.cluster.processes.await_end(self.node, REFUSED_WITHIN)
        status = self.cluster.processes.status(self.node)
        peers = self.cluster.processes.peers(self.node) if status.running is Running.RUNNING else frozenset()
        said = [line for line in self.cluster.processes.said(self.node) if IN_USE.search(line)]
        refused = status.running is Running.EXITED and (status.exit_code or 0) > 0 and bool(said)
        found = {**measured({self.node: status}), "said": said[:5], "peers": sorted(peers)}
        if peers:
            return Evidence(True, "the process table and its open connections: it was not refused", found)
        return Evidence(refused, "the process table, and what it logged of the directory before it ended", found)

    def recover(self) -> None:
        if self.cluster.processes.status(self.node).running in (Running.RUNNING, Running.PAUSED):
            self.cluster.duplicates.stop_duplicate(self.node)

    def verify_healed(self) -> Evidence:
        return self.await_status(
            lambda status: status.running in (Running.EXITED, Running.NEVER_STARTED), "the process table: it is gone"
        )
