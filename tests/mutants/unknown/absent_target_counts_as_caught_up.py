"""A leader that goes on with a move once the live replicas of its target have caught up.

Replication design V2, "checkReassignedReplicas", waits for every replica of RAR. Here old replicas are closed while a
new one is away.
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.partition.leader_term import LeaderTerm
from fencepost.cluster_impl.designs.leader_driven.partition.reassignment import Reassignment
from fencepost.cluster_impl.replication.progress import Progress
from tests.mutants.defect import LEADER_DRIVEN, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(LEADER_DRIVEN,),
    rules=("ADM-05",),
    scenarios=(),
    unit="tests/mutants/unknown/test_away.py::test_a_leader_waits_for_each_replica_of_the_target",
    kind=Kind.AWAY,
)


def apply() -> None:
    honest = Reassignment._has_caught_up

    def of_live(self: Reassignment, leader_term: LeaderTerm, progress: Progress) -> bool:
        live = leader_term.context.live()
        return honest(Reassignment(tuple(replica for replica in self.target if replica in live)), leader_term, progress)

    Reassignment._has_caught_up = of_live  # type: ignore[method-assign]
