"""A follower that cuts its log to its own high watermark and asks no leader (KAFKA-1211, KIP-101; against HW-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import Replica
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-1211",
    designs=WITH_CONTROLLER,
    rules=("HW-03", "ACK-01"),
    scenarios=("successor-dies-unheard", "truncated-and-elected", "truncated-and-overwritten"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    Replica.asks_leader = property(_never)  # type: ignore[method-assign, assignment]


def _never(self: Replica) -> bool:
    return False
