"""A leader that goes on when its session is over (KAFKA-1483; against replication design V2, session expiration)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.broker.control_plane import LeaderDrivenControlPlane
from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-1483",
    designs=(LEADER_DRIVEN,),
    rules=("DLD-15",),
    scenarios=("v2-cut-from-zookeeper-cut",),
    unit="tests/mutants/test_leader_driven_guarantees.py::test_a_leader_whose_session_is_over_leads_nothing",
)


def apply() -> None:
    LeaderDrivenControlPlane.serving = _always  # type: ignore[method-assign]
    LeaderDrivenControlPlane.completes_begun = _always  # type: ignore[method-assign]
    ReplicaAgent.session_lost = _nothing  # type: ignore[method-assign]


def _always(self: LeaderDrivenControlPlane) -> bool:
    return True


def _nothing(self: ReplicaAgent) -> None:
    return None
