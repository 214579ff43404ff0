"""What the faults of containers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from faults.capabilities import CapabilityError, Cluster, Running
from faults.lives_on import LivesOn


class ContainerFault(LivesOn):
    """Aimed at nodes by name."""

    def __init__(self, cluster: Cluster, nodes: Sequence[str]) -> None:
        self.cluster = cluster
        self.names = tuple(nodes)

    def targets(self) -> Mapping[str, object]:
        return {"nodes": list(self.names)}

    def require_running(self, verb: str) -> None:
        for name in self.names:
            running = self.cluster.processes.status(name).running
            if running is not Running.RUNNING:
                raise CapabilityError(f"cannot {verb} {name}: it is {running.value}")
