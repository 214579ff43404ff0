"""A controller that describes the quorum as if itself were its only voter (against K631-11)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft import describe
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-11",),
    scenarios=("changes-are-records",),
    unit=(
        "tests/cluster_impl/designs/quorum/raft/test_describe.py::"
        "test_the_leader_itself_has_caught_up_and_voters_as_their_fetches_say"
    ),
)


def apply() -> None:
    voters = describe._voters

    def itself_alone(core: RaftCore, clock: describe._Clock) -> list[describe.ReplicaState]:
        return [each for each in voters(core, clock) if each.replica_id == core.node_id]

    vars(describe)["_voters"] = itself_alone
