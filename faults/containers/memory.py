"""Nodes have only so much memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from fencepost.faults.capabilities import Capability, Cluster, Evidence, Limits, Running
from fencepost.faults.containers.container_fault import ContainerFault
from fencepost.faults.fault import EVERYWHERE
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in

MIB = 1 << 20
STAYS_DOWN = "a node that dies of it stays down, which a random plan cannot tell from a crash"


class MemoryParameters(FaultParameters):
    """At most `mb` MiB of memory for each node, page cache included. Healed by no limit."""

    nodes: NodeRefs
    mb: Annotated[int, Field(ge=8)]


class Memory(ContainerFault):
    """Each node's container may use `mb` MiB of memory, page cache included, and no swap. Healed by no limit.

    Models a host or a container that is too small: the kernel takes back what it can (pages of files first, so reads go
    to the disk), and when that does not do, ends the process by SIGKILL. Does not model a heap that is too small: a JVM
    sized itself when it was started. A node that dies of it stays down when the limit is gone: restart it.

    Proven by the kernel's own limit of the group that the node's process is in, or by its end when it was over it.
    """

    name: ClassVar[str] = "memory"
    phrase = "the memory of {nodes} is limited to {mb} MiB"
    capability: ClassVar[Capability] = Capability.RESOURCES
    Parameters = MemoryParameters
    left_out: ClassVar[Mapping[str, str]] = {EVERYWHERE: STAYS_DOWN}

    def __init__(self, cluster: Cluster, parameters: MemoryParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.mb = parameters.mb
        self._before: dict[str, Limits] = {}

    def targets(self) -> Mapping[str, object]:
        return {**super().targets(), "mb": self.mb}

    def set_up(self) -> None:
        self.require_running("limit")
        self._before = {name: self.cluster.containers.limits(name) for name in self.names}

    def inject(self) -> None:
        for name in self.names:
            self.cluster.containers.limit_memory(name, self.mb * MIB)

    def verify(self) -> Evidence:
        met = {name: self._met(name) for name in self.names}
        proven = all(limits["over"] or limits["limit_mb"] == self.mb for limits in met.values())
        return Evidence(proven, "the kernel's limits of the groups that the processes are in", met)

    def recover(self) -> None:
        for name in self.names:
            if self._runs(name):
                self.cluster.containers.limit_memory(name, None)

    def verify_healed(self) -> Evidence:
        met = {name: self._met(name) for name in self.names}
        proven = all(limits["over"] or limits["limit_mb"] != self.mb for limits in met.values())
        return Evidence(proven, "the kernel's limits of the groups that the processes are in", met)

    def _met(self, name: str) -> dict[str, object]:
        if not self._runs(name):
            return {"limit_mb": None, "over": True}
        found = self.cluster.containers.limits(name)
        limit, used = found.memory, found.memory_used
        return {
            "limit_mb": None if limit is None else limit // MIB,
            "used_mb": None if used is None else used // MIB,
            "over": False,
        }

    def _runs(self, name: str) -> bool:
        return self.cluster.processes.status(name).running in (Running.RUNNING, Running.PAUSED)
