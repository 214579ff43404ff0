"""Placement of the replicas of new partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def place_as_neighbours(
    brokers: Sequence[int], partitions: int, factor: int, start: int, racks: Mapping[int, str | None] | None = None
) -> list[tuple[int, ...]]:
    """Return the replicas of each new partition, in preferred order: `factor` neighbours on the ring of sorted ids.

    Each partition begins one place further than the one before it; the first begins at `start`. If `start` is the
    number of partitions that were ever created, leaders spread evenly over topics too, and the same history gives the
    same layout.

    If each broker has a rack, a neighbour in a rack that the partition has already is passed over until every rack has
    as many of its replicas.
    """
    ring = sorted(brokers)
    layout = []
    for partition in range(partitions):
        first = (start + partition) % len(ring)
        neighbours = ring[first:] + ring[:first]
        layout.append(tuple(_across_racks(neighbours, racks or {})[:factor]))
    return layout


def _across_racks(brokers: Sequence[int], racks: Mapping[int, str | None]) -> Sequence[int]:
    """Return the brokers with the first of each rack first, then the second of each, and so on."""
    if any(racks.get(broker) is None for broker in brokers):
        return brokers
    seen = Counter[str | None]()
    turns = {}
    for broker in brokers:
        turns[broker] = seen[racks[broker]]
        seen[racks[broker]] += 1
    return sorted(brokers, key=turns.__getitem__)


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
