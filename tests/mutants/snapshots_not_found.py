"""A controller that forgets at its start that it has snapshots, while its log is cut behind them (against K631-23)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.snapshot_files import FoundSnapshots, SnapshotFiles


def apply() -> None:
    SnapshotFiles.find = _nothing  # type: ignore[method-assign]


def _nothing(self: SnapshotFiles) -> FoundSnapshots:
    return FoundSnapshots((), [])
