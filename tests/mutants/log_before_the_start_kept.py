"""A follower that keeps its log though its leader's begins later, and asks for what comes next (against DSTO-10)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import Replica


def apply() -> None:
    Replica.begin_anew = _keep  # type: ignore[method-assign]


def _keep(self: Replica, leader_log_start: int) -> None:
    """Leave the log as it is."""
