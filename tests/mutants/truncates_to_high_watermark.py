"""A follower that cuts its log to its own high watermark and asks no leader (KAFKA-1211, KIP-101; against HW-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.replica import Replica


def apply() -> None:
    Replica.asks_leader = property(_never)  # type: ignore[method-assign, assignment]


def _never(self: Replica) -> bool:
    return False
