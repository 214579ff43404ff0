"""A replica that stands for election though it lost its log (KAFKA-14139; against DIR-04)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.designs.leader_driven.partition.situation import Situation


def apply() -> None:
    ReplicaAgent._may_stand = _is_eligible  # type: ignore[method-assign]


def _is_eligible(self: ReplicaAgent, found: Situation) -> bool:
    return found.is_eligible(self._me)
