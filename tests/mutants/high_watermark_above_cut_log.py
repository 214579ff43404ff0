"""A replica that keeps its high watermark when its log is cut below it (KAFKA-9491; against HW-01)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition


def apply() -> None:
    Partition.truncated = _keep  # type: ignore[method-assign]


def _keep(self: Partition, log_end_offset: int) -> None:
    self.log_end_offset = log_end_offset
