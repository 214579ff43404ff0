"""A coordinator that forgets a deleted group, and writes nothing of it: the next one knows it again (DSTO-16)."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.api.groups.coordinator import Coordinator
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-16",),
    scenarios=("group-coordinator-killed",),
    unit="tests/cluster_impl/api/test_coordinator.py::test_a_deleted_group_is_gone_also_for_the_next_coordinator",
)


def apply() -> None:
    Coordinator.remove = _forget  # type: ignore[method-assign]


async def _forget(self: Coordinator, group_id: str, partitions: Collection[TopicPartition]) -> Error:
    try:
        self.shard(group_id).adopt(group_id, dict.fromkeys(partitions))
    except PartitionError as refused:
        return refused.error
    return Error.NONE
