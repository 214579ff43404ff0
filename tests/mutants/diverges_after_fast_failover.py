"""A follower that takes the leader's end of another epoch for its own (KAFKA-6361, KIP-279; against HW-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication import replica
from fencepost.cluster_impl.replication.replica import LogEpochEnd, Replica
from fencepost.cluster_impl.storage.epochs import LeaderEpochCache, TruncationPoint
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-6361",
    designs=WITH_CONTROLLER,
    rules=("HW-03", "HW-04"),
    scenarios=("terms-unheard", "fast-failover", "truncated-and-overwritten", "isolated-leader", "two-leaders"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    replica.truncation_point = _at_once  # type: ignore[attr-defined]
    Replica._divergence = _none  # type: ignore[method-assign]


def _at_once(leader_epoch: int, leader_end: int, local: LeaderEpochCache, log_end_offset: int) -> TruncationPoint:
    return TruncationPoint(min(leader_end, log_end_offset), complete=True)


def _none(self: Replica, offset: int, last_epoch: int) -> LogEpochEnd | None:
    return None
