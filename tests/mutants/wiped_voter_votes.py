"""A controller that goes on without its vote and its epoch (KAFKA-12181; against KIP-595, Quorum State)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.quorum_state_file import QuorumStateFile
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-12181",
    designs=(QUORUM,),
    rules=("CTRL-07", "CTRL-01"),
    scenarios=("lost-vote", "controllers-lose-power"),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    honest = QuorumStateFile.read

    def trusting(self: QuorumStateFile, *, log_is_empty: bool) -> QuorumState:
        return honest(self, log_is_empty=True)

    QuorumStateFile.read = trusting  # type: ignore[method-assign]
