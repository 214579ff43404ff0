"""OffsetDelete that deletes the offsets of all partitions of a topic of which it names one (against KIP-496)."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.cluster_impl.api.groups.coordinator import Coordinator
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("CRD-03", "GRP-01"),
    scenarios=(),
    unit="tests/mutants/unknown/test_accepted.py::test_offsets_are_deleted_of_the_partitions_that_are_named_alone",
    kind=Kind.ACCEPTED,
)


def apply() -> None:
    honest = Coordinator.remove

    async def remove(self: Coordinator, group_id: str, partitions: Collection[TopicPartition]) -> Error:
        topics = {partition.topic for partition in partitions}
        committed = self.shard(group_id).offsets.get(group_id, {})
        return await honest(self, group_id, [partition for partition in committed if partition.topic in topics])

    Coordinator.remove = remove  # type: ignore[method-assign]
