"""A controller whose metadata log is deleted by its age, whatever a snapshot has (KAFKA-14238; against D631-30)."""

from __future__ import annotations

from pathlib import Path

from fencepost.cluster_impl.designs.quorum.raft import metadata_log
from fencepost.cluster_impl.storage.log import Log
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14238",
    designs=(QUORUM,),
    rules=("D631-30", "LIVE-07"),
    scenarios=("snapshot-killed", "everything-killed"),
    unit="tests/cluster_impl/designs/quorum/raft",
)


class _Aged:
    @staticmethod
    def open(folder: Path) -> Log:
        """Open a log, all of whose segments are older than it keeps them."""
        log = Log.open(folder)
        if log.log_end_offset > log.log_start_offset:
            log.roll()
            log.cut_before(log.log_end_offset)
        return log


def apply() -> None:
    metadata_log.Log = _Aged  # type: ignore[attr-defined, assignment]
