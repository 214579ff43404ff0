"""A controller that forgets at its start that it has snapshots, while its log is cut behind them (against K631-23)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.snapshot_files import FoundSnapshots, SnapshotFiles
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-23",),
    scenarios=("snapshot-killed",),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    SnapshotFiles.find = _nothing  # type: ignore[method-assign]


def _nothing(self: SnapshotFiles) -> FoundSnapshots:
    return FoundSnapshots((), [])
