"""A replica that stands for election though it is not in sync (against replication design V2, leaderElection)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.partition.situation import Situation
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    kafka="KIP-966",
    designs=(LEADER_DRIVEN,),
    rules=("LD-28",),
    scenarios=("v2-outside-the-isr",),
    unit="tests/mutants/test_leader_driven_guarantees.py::test_a_replica_outside_the_isr_does_not_win",
)


def apply() -> None:
    Situation.is_eligible = _is_assigned  # type: ignore[method-assign]


def _is_assigned(self: Situation, broker_id: int) -> bool:
    return broker_id in self.assigned.members
