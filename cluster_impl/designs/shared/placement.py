"""Placement of the replicas of new partitions, without regard to racks."""

from __future__ import annotations

from collections.abc import Sequence


def place_as_neighbours(brokers: Sequence[int], partitions: int, factor: int, start: int) -> list[tuple[int, ...]]:
    """Return the replicas of each new partition, in preferred order: `factor` neighbours on the ring of sorted ids.

    Each partition begins one place further than the one before it; the first begins at `start`. If `start` is the
    number of partitions that were ever created, leaders spread evenly over topics too, and the same history gives the
    same layout.
    """
    ring = sorted(brokers)
    return [
        tuple(ring[(start + partition + step) % len(ring)] for step in range(factor)) for partition in range(partitions)
    ]


def place_as_kafka(brokers: Sequence[int], partitions: int, factor: int, start: int) -> list[tuple[int, ...]]:
    """Return the replicas of each new partition, in preferred order, as Kafka places them where racks do not matter.

    First replicas go round the ring of sorted ids, from place `start` on. The others follow at a distance that grows by
    one with each round, so that a broker does not share all of its partitions with the same others.
    """
    ring = sorted(brokers)
    count = len(ring)
    layout = []
    for partition in range(partitions):
        first = (start + partition) % count
        shift = start + partition // count
        others = [(first + 1 + (shift + step) % (count - 1)) % count for step in range(factor - 1)]
        layout.append(tuple(ring[place] for place in (first, *others)))
    return layout
