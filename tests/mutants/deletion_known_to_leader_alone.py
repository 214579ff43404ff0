"""A leader that answers DeleteRecords before its followers have deleted anything (against DSTO-09)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.partition import Partition
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-09",),
    scenarios=("stopped-follower",),
    unit=(
        "tests/cluster_impl/replication/test_log_start.py::"
        "test_a_deletion_waits_for_an_in_sync_replica_that_does_not_fetch"
    ),
)


def apply() -> None:
    Partition.low_watermark = property(lambda self: self.log_start_offset)  # type: ignore[assignment, method-assign]
