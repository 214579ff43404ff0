"""A leader that answers DeleteRecords before its followers have deleted anything (against DSTO-09)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition


def apply() -> None:
    Partition.low_watermark = property(lambda self: self.log_start_offset)  # type: ignore[assignment, method-assign]
