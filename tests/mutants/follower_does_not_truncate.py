"""A follower that keeps records that its leader does not have (against HW-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import LogEpochEnd, Replica
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    designs=WITH_CONTROLLER,
    rules=("HW-04", "HW-03"),
    scenarios=("isolated-leader", "two-leaders"),
    unit="tests/cluster_impl/replication/test_cluster.py::test_a_deposed_leader_loses_only_what_no_other_replica_took",
)


def apply() -> None:
    Replica.truncate = _keep  # type: ignore[method-assign]


def _keep(self: Replica, leader: LogEpochEnd) -> bool:
    return True
