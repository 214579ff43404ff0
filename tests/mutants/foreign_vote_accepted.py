"""A controller that votes for a candidate of another cluster (KAFKA-12440; against KIP-595, Vote)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.elections import ElectionProtocol
from fencepost.cluster_impl.designs.quorum.raft.messages import Request, VoteRequest
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-12440",
    designs=(QUORUM,),
    rules=("CTRL-06",),
    scenarios=("stale-requests",),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    honest = ElectionProtocol._refusal

    def careless(self: ElectionProtocol, request: Request, cluster_id: str | None, sender: int) -> Error:
        return honest(self, request, None if isinstance(request, VoteRequest) else cluster_id, sender)

    ElectionProtocol._refusal = careless  # type: ignore[method-assign]
