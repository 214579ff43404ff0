"""A controller that truncates what it knows to be committed (KAFKA-12460; against K631-15)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-12460",
    designs=(QUORUM,),
    rules=("K631-15",),
    scenarios=("controllers-lose-power",),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    honest = RaftCore._truncate

    def obedient(self: RaftCore, diverging: EpochEnd, now: float) -> None:
        self.high_watermark = min(self.high_watermark, self.log.truncation_point(diverging))
        honest(self, diverging, now)

    RaftCore._truncate = obedient  # type: ignore[method-assign]
