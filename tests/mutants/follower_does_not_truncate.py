"""A follower that keeps what its leader does not have (against the decision: followers truncate by leader epoch)."""

from __future__ import annotations

from cluster_impl.replication.replica import EpochEnd, Replica


def apply() -> None:
    Replica.truncate = _keep  # type: ignore[method-assign]


def _keep(self: Replica, leader: EpochEnd) -> bool:
    return True
