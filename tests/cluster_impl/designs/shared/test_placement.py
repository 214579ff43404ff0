from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.shared.placement import place_as_kafka, place_as_neighbours


def test_neighbours_on_the_ring_of_sorted_ids_are_taken() -> None:
    assert place_as_neighbours([6, 4, 5], partitions=3, factor=2, start=1) == [(5, 6), (6, 4), (4, 5)]


@pytest.mark.parametrize("brokers", range(1, 6))
@pytest.mark.parametrize("start", [0, 1, 7])
def test_replicas_are_different_brokers_and_leaders_are_spread(brokers: int, start: int) -> None:
    for factor in range(1, brokers + 1):
        layout = place_as_kafka(list(range(10, 10 + brokers)), 3 * brokers, factor, start)
        assert all(len(set(replicas)) == factor for replicas in layout)
        led = [replicas[0] for replicas in layout]
        assert {led.count(each) for each in set(led)} == {3}
        assert len(set(led)) == brokers
