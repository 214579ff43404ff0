"""A controller that gives a vote which it could not store (against KIP-595, Quorum State)."""

from __future__ import annotations

from contextlib import suppress

from fencepost.cluster_impl.designs.quorum.raft.quorum_state_file import QuorumStateFile
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState


def apply() -> None:
    honest = QuorumStateFile.write

    def hopeful(self: QuorumStateFile, state: QuorumState) -> None:
        with suppress(OSError):
            honest(self, state)

    QuorumStateFile.write = hopeful  # type: ignore[method-assign]
