"""A replica that stands for election though it is not in sync (against replication design V2, leaderElection)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.partition.situation import Situation


def apply() -> None:
    Situation.is_eligible = _is_assigned  # type: ignore[method-assign]


def _is_assigned(self: Situation, broker_id: int) -> bool:
    return broker_id in self.assigned.members
