"""What the faults of containers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from faults.capabilities import CapabilityError, Cluster, Running


class ContainerFault:
    """Aimed at nodes by name."""

    def __init__(self, cluster: Cluster, nodes: Sequence[str]) -> None:
        self.cluster = cluster
        self.names = tuple(nodes)

    def targets(self) -> Mapping[str, object]:
        return {"nodes": list(self.names)}

    def nodes(self) -> frozenset[str]:
        """None: its process runs on, and may be broken besides."""
        return frozenset()

    def links(self) -> frozenset[tuple[str, str]]:
        return frozenset()

    def require_running(self, verb: str) -> None:
        for name in self.names:
            running = self.cluster.processes.status(name).running
            if running is not Running.RUNNING:
                raise CapabilityError(f"cannot {verb} {name}: it is {running.value}")
