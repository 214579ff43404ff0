"""A broker that shows clients no rack, of itself or of another broker (against DRACK-01)."""

from __future__ import annotations

from fencepost.cluster_impl.api import metadata
from fencepost.cluster_impl.replication.control_plane import ClusterView, Endpoint
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DRACK-01",),
    scenarios=("rack-reads-on",),
    unit=(
        "tests/cluster_impl/api/test_read_replica.py::"
        "test_a_client_in_the_rack_of_a_follower_is_sent_there_without_records"
    ),
)


def apply() -> None:
    honest = metadata.reachable

    def nowhere(cluster: ClusterView, listener: str) -> list[tuple[int, Endpoint, str | None]]:
        return [(broker, endpoint, None) for broker, endpoint, _ in honest(cluster, listener)]

    metadata.reachable = nowhere
