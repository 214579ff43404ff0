"""A new leader that shows its own high watermark before it knows the one that clients saw (KAFKA-2334, KIP-207).

The end of the partition goes back until the first record of its term is committed.
"""

from __future__ import annotations

from fencepost.cluster_impl.api import offsets
from fencepost.cluster_impl.api.offsets import LATEST, Offsets, PartitionOffset
from fencepost.cluster_impl.replication.replica import Replica
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-2334",
    designs=WITH_CONTROLLER,
    rules=("HW-01",),
    scenarios=("empty-behind-the-successor", "isolated-leader", "everything-killed"),
    unit="tests/cluster_impl/api",
)


def apply() -> None:
    known = Offsets._look_up

    def look_up(
        self: Offsets,
        replica: Replica,
        partition: m.ListOffsetsRequest.ListOffsetsPartition,
        version: int,
        answer: PartitionOffset,
    ) -> None:
        if partition.timestamp == LATEST:
            answer.offset = replica.core.high_watermark
        else:
            known(self, replica, partition, version, answer)

    offsets.Offsets._look_up = look_up  # type: ignore[method-assign]
