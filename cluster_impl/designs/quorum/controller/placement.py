"""Where the replicas of a new partition go."""

from __future__ import annotations

from collections.abc import Sequence


def place(brokers: Sequence[int], partitions: int, replication_factor: int, start: int) -> list[list[int]]:
    """Replicas in preferred order for each new partition.

    The brokers, sorted by id, form a ring. A partition takes `replication_factor` neighbours on it, and each partition
    begins one place further than the one before it; the first begins at `start`, the number of partitions that were
    ever created in this cluster. So leaders spread evenly over topics too, and the same history gives the same layout.
    """
    ring = sorted(brokers)
    return [
        [ring[(start + partition + step) % len(ring)] for step in range(replication_factor)]
        for partition in range(partitions)
    ]
