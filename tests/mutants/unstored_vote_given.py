"""A controller that gives a vote which it could not store (against KIP-595, Quorum State)."""

from __future__ import annotations

from contextlib import suppress

from fencepost.cluster_impl.designs.quorum.raft.quorum_state_file import QuorumStateFile
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("DISK-08",),
    scenarios=("vote-not-stored",),
    unit=(
        "tests/cluster_impl/designs/quorum/raft/test_quorum_state_file.py::"
        "test_a_vote_that_cannot_be_renamed_is_an_error_and_the_old_one_stays"
    ),
)


def apply() -> None:
    honest = QuorumStateFile.write

    def hopeful(self: QuorumStateFile, state: QuorumState) -> None:
        with suppress(OSError):
            honest(self, state)

    QuorumStateFile.write = hopeful  # type: ignore[method-assign]
