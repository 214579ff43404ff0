"""A controller that passes over the snapshot that its leader names (against D631-30)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.following import FollowerProtocol
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-30", "K631-23"),
    scenarios=("snapshot-fetched",),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    FollowerProtocol._begin_download = _passes_over  # type: ignore[method-assign]


def _passes_over(self: FollowerProtocol, snapshot: EpochEnd) -> None:
    return None
