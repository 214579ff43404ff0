"""A coordinator that begins without the offsets that its predecessor had committed (GRP-01; compare KAFKA-19862).

Members find no offset and read their partitions from the beginning once more.
"""

from __future__ import annotations

from fencepost.cluster_impl.api.groups.coordinator import Shard
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-19862",
    designs=ALL,
    rules=("GRP-01",),
    scenarios=("group-coordinator-killed",),
    unit="tests/cluster_impl/api/test_coordinator.py::test_committed_offsets_outlive_their_coordinator",
)


def apply() -> None:
    Shard.load = _load  # type: ignore[method-assign]


def _load(self: Shard) -> None:
    """Read nothing."""
