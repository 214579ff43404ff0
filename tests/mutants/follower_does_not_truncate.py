"""A follower that keeps records that its leader does not have (against HW-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import LogEpochEnd, Replica


def apply() -> None:
    Replica.truncate = _keep  # type: ignore[method-assign]


def _keep(self: Replica, leader: LogEpochEnd) -> bool:
    return True
