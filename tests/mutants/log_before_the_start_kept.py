"""A follower that keeps its log though its leader's begins later, and asks for what comes next (against DSTO-10)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import Replica
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("DSTO-10",),
    scenarios=("log-start-moves",),
    unit="tests/cluster_impl/replication/test_log_start.py",
)


def apply() -> None:
    Replica.begin_anew = _keep  # type: ignore[method-assign]


def _keep(self: Replica, leader_log_start: int) -> None:
    """Leave the log as it is."""
