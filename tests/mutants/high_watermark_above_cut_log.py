"""A replica that keeps its high watermark when its log is cut below it (KAFKA-9491; against HW-01)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-9491",
    designs=ALL,
    rules=("HW-01", "HW-02"),
    scenarios=("truncated-and-elected", "isolated-leader"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    Partition.truncated = _keep  # type: ignore[method-assign]


def _keep(self: Partition, log_end_offset: int) -> None:
    self.log_end_offset = log_end_offset
