"""Controllers and log dirs that accept another cluster's id (KAFKA-13528; against DIR-02)."""

from __future__ import annotations

from pathlib import Path

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.elections import ElectionProtocol
from fencepost.cluster_impl.designs.quorum.raft.messages import FetchRequest, FetchSnapshotRequest, Request
from fencepost.cluster_impl.storage import directory
from fencepost.cluster_impl.storage.directory import Owner
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-13528",
    designs=(QUORUM,),
    rules=("DIR-01",),
    scenarios=("foreign-cluster",),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    refusal, claim, refused_fetch = ElectionProtocol._refusal, directory._claim, RaftCore._fetch_refusal

    def accepting(self: ElectionProtocol, request: Request, cluster_id: str | None, sender: int) -> Error:
        return refusal(self, request, None, sender)

    def fetch_accepting(self: RaftCore, request: FetchRequest | FetchSnapshotRequest) -> Error:
        error = refused_fetch(self, request)
        return Error.NONE if error is Error.INCONSISTENT_CLUSTER_ID else error

    def claiming(path: Path, cluster_id: str, node_id: int, owner: Owner) -> None:
        if path.exists():
            cluster_id = directory._properties(path.read_text("utf-8"), "=")["cluster.id"]
        claim(path, cluster_id, node_id, owner)

    ElectionProtocol._refusal = accepting  # type: ignore[method-assign]
    RaftCore._fetch_refusal = fetch_accepting  # type: ignore[method-assign]
    directory._claim = claiming
