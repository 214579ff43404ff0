"""A broker that shows clients no rack, of itself or of another broker (against DRACK-01)."""

from __future__ import annotations

from fencepost.cluster_impl.api import metadata
from fencepost.cluster_impl.replication.control_plane import ClusterView, Endpoint


def apply() -> None:
    honest = metadata.reachable

    def nowhere(cluster: ClusterView, listener: str) -> list[tuple[int, Endpoint, str | None]]:
        return [(broker, endpoint, None) for broker, endpoint, _ in honest(cluster, listener)]

    metadata.reachable = nowhere
