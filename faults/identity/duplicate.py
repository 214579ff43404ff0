"""A second process claims the id of a node that runs."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from fencepost.faults.capabilities import Capability, CapabilityError, Cluster, Evidence, Running
from fencepost.faults.fault import BundleScript
from fencepost.faults.generation import Aim, BreakableCluster, GeneratedFault, HealOrder, Resource
from fencepost.faults.parameters import FaultParameters, NodeRef, PlannedNode
from fencepost.faults.processes.process_fault import READY_TIMEOUT_S, ProcessFault, measured

REFUSED_WITHIN = 30.0
"""Seconds for a process to find out that its directory is in use: a JVM on a busy machine takes ten."""
IN_USE = re.compile(r"(?i)in use|lock|using this directory|claimed by another process")
"""How a server says that another process has its directory; or its id, where that is asked for first."""


ENDS_AT_ONCE = "a second process with the id ends at once (AZ-02), so nothing could be measured of it"


class DuplicateParameters(FaultParameters):
    """Start the topology's second process for an id (`duplicate_of`). Healed by ending it."""

    node: NodeRef

    def problems(self, nodes: Iterable[PlannedNode], backups: Iterable[str]) -> Iterator[tuple[str, str]]:
        spec = next((node for node in nodes if node.name == self.node), None)
        if spec is not None and (spec.duplicate_of is None or spec.start != "later"):
            yield (
                "node",
                f"{self.node} is not a duplicate to start: its topology entry needs `duplicate_of` and `start: later`",
            )


class Duplicate(ProcessFault):
    """Start the process that the topology holds ready for the id, with addresses and links of its own.

    Models a copied configuration, or an orchestrator that starts a replacement too early: of a broker, or of a
    controller. Its directory is empty, a clone of the original's (a copied volume), or the original's own (a volume
    that two hosts mount). Proven when it runs and has a connection to another node: whether it is let in is what the
    scenario asks. On the original's directory it should never get so far; there the proof is that it ended by itself,
    and what it said of the directory, or of the id. Healed by ending it.

    Does not model two machines on one directory: there a lock of the kernel's may not be seen (some network file
    systems), and both would write.
    """

    name: ClassVar[str] = "duplicate"
    phrase = "{node}, a second process with the same id, is running"
    capability: ClassVar[Capability] = Capability.DUPLICATE
    Parameters = DuplicateParameters
    weight = 6
    left_out: ClassVar[Mapping[str, str]] = {"apache-kafka-zk": ENDS_AT_ONCE}
    bundle_script = BundleScript.PROCESS_EVENTS

    def __init__(self, cluster: Cluster, parameters: DuplicateParameters) -> None:
        super().__init__(cluster, (parameters.node,))

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        """Fragile: where the duplicate takes the id, its data is gone when it is ended. Exclusive with ZooKeeper: there
        it waits for the id, and an original whose session ends meanwhile has lost the id for good and ends."""
        duplicate = cluster.duplicate
        if duplicate is None or duplicate.duplicate_of is None:
            return None
        return GeneratedFault(
            parameters=DuplicateParameters(node=duplicate.name),
            aim=Aim(duplicate.name, 1, "brokers", (duplicate.name,)),
            heal_order=HealOrder.PROCESSES,
            resources=(Resource("processes of duplicates"),),
            title=f"a duplicate of {duplicate.duplicate_of} ({duplicate.directory} directory)",
            brokers=1,
            fragile=True,
            exclusive=cluster.uses_zookeeper,
        )

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
        deadline = time.monotonic() + READY_TIMEOUT_S
        while True:
            status = self.cluster.processes.status(self.node)
            peers = self.cluster.processes.peers(self.node) if status.running is Running.RUNNING else frozenset()
            over = status.running is Running.EXITED or time.monotonic() > deadline
            if peers or over:
                found: Mapping[str, object] = {**measured({self.node: status}), "peers": sorted(peers)}
                return Evidence(bool(peers), "the process table and its open connections to other nodes", found)
            time.sleep(0.02)

    def _verify_refused(self) -> Evidence:
        """Prove that it ended by itself. If it runs on, connected, that is proof as well: nothing prevented it."""
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
