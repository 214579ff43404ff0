"""A controller that truncates what it knows to be committed (KAFKA-12460; against K631-15)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.following import FollowerProtocol
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
    honest = FollowerProtocol._truncate

    def obedient(self: FollowerProtocol, diverging: EpochEnd, now: float) -> None:
        self.log.high_watermark = min(self.log.high_watermark, self.log.shape.truncation_point(diverging))
        honest(self, diverging, now)

    FollowerProtocol._truncate = obedient  # type: ignore[method-assign]
