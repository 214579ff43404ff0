"""A controller that votes for a candidate of another cluster (KAFKA-12440; against KIP-595, Vote)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.messages import Request, VoteRequest
from fencepost.cluster_impl.wire.errors import Error


def apply() -> None:
    honest = RaftCore._refusal

    def careless(self: RaftCore, request: Request, cluster_id: str | None, sender: int) -> Error:
        return honest(self, request, None if isinstance(request, VoteRequest) else cluster_id, sender)

    RaftCore._refusal = careless  # type: ignore[method-assign]
