"""A controller that starts with a log whose beginning no snapshot has (KAFKA-14240; against D631-29)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fencepost.cluster_impl.designs.quorum.raft import metadata_log
from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogGap, LogShape, Recovered
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14240",
    designs=(QUORUM,),
    rules=("D631-29",),
    scenarios=("lost-snapshots",),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    honest, begin = metadata_log.recover, MetadataLog.__init__  # type: ignore[attr-defined]

    def trusting(
        epochs: Sequence[tuple[int, int]], start_offset: int, end_offset: int, snapshots: tuple[EpochEnd, ...]
    ) -> Recovered:
        try:
            recovered: Recovered = honest(epochs, start_offset, end_offset, snapshots)
        except LogGap:
            return Recovered((), LogShape(epochs, end_offset))
        return recovered

    def begun(self: MetadataLog, folder: Path, snapshots: tuple[EpochEnd, ...]) -> None:
        begin(self, folder, snapshots)
        self.delivered = max(self.delivered, self._log.log_start_offset)

    metadata_log.recover = trusting  # type: ignore[attr-defined]
    MetadataLog.__init__ = begun  # type: ignore[method-assign, assignment]
