"""Where the replicas of a new topic go, as Kafka places them where racks do not matter."""

from __future__ import annotations

from collections.abc import Sequence


def place(brokers: Sequence[int], partitions: int, replication_factor: int, start: int) -> list[tuple[int, ...]]:
    """Replicas in preferred order for each new partition.

    First replicas go round the brokers, from place `start` on. The others follow at a distance that grows by one with
    each round, so that the brokers which share a partition with one that fails are not always the same.
    """
    ring = sorted(brokers)
    count = len(ring)
    layout = []
    for partition in range(partitions):
        first = (start + partition) % count
        shift = start + partition // count
        others = [(first + 1 + (shift + step) % (count - 1)) % count for step in range(replication_factor - 1)]
        layout.append(tuple(ring[place] for place in (first, *others)))
    return layout
