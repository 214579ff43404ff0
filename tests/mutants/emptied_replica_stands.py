"""A replica that stands for election though it lost its log (KAFKA-14139; against DIR-04)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.designs.leader_driven.partition.situation import Situation
from fencepost.cluster_impl.designs.leader_driven.partition.states import OpenReplica
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14139",
    designs=(LEADER_DRIVEN,),
    rules=("DIR-04", "ISR-09"),
    scenarios=("emptied-and-alone", "emptied-follower"),
    unit="tests/cluster_impl/designs/leader_driven",
)


def apply() -> None:
    ReplicaAgent._may_stand = _is_eligible  # type: ignore[method-assign]


def _is_eligible(self: ReplicaAgent, replica: OpenReplica, situation: Situation) -> bool:
    return situation.is_eligible(self._me)
