"""A controller that truncates what it knows to be committed (KAFKA-12460; against K631-15)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd


def apply() -> None:
    honest = RaftCore._truncate

    def obedient(self: RaftCore, diverging: EpochEnd, now: float) -> None:
        self.high_watermark = min(self.high_watermark, self.log.truncation_point(diverging))
        honest(self, diverging, now)

    RaftCore._truncate = obedient  # type: ignore[method-assign]
