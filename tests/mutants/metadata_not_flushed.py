"""A controller that never flushes the metadata log (KAFKA-10533; against K631-17)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-10533",
    designs=(QUORUM,),
    rules=("K631-15",),
    scenarios=("controllers-lose-power",),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    MetadataLog.flush = _nothing  # type: ignore[method-assign]
    honest = MetadataLog.close

    def careless(self: MetadataLog) -> None:
        self._log.flush = _quiet  # type: ignore[method-assign]
        honest(self)

    MetadataLog.close = careless  # type: ignore[method-assign]


def _nothing(self: MetadataLog) -> None:
    return None


def _quiet() -> None:
    return None
