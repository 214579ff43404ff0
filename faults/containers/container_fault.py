"""The base of the faults of containers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.faults.capabilities import CapabilityError, Cluster, Running
from fencepost.faults.fault import Fault


@dataclass
class ContainerFault(Fault):
    """A fault of the containers of some nodes. Their processes live on."""

    cluster: Cluster
    names: tuple[str, ...]

    def targets(self) -> Mapping[str, object]:
        return {"nodes": list(self.names)}

    def require_running(self, verb: str) -> None:
        for name in self.names:
            running = self.cluster.processes.status(name).running
            if running is not Running.RUNNING:
                raise CapabilityError(f"cannot {verb} {name}: it is {running.value}")
