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


def test_replicas_are_in_as_many_racks_as_there_are() -> None:
    racks = {1: "a", 2: "a", 3: "a", 4: "b", 5: "b", 6: "c"}
    layout = place_as_neighbours(list(racks), partitions=6, factor=3, start=0, racks=racks)
    assert [replicas[0] for replicas in layout] == [1, 2, 3, 4, 5, 6]
    assert all({racks[broker] for broker in replicas} == {"a", "b", "c"} for replicas in layout)
    assert place_as_neighbours(list(racks), 1, 5, 0, racks) == [(1, 4, 6, 2, 5)]


def test_racks_do_not_matter_if_a_broker_has_none() -> None:
    racks = {1: "a", 2: "a", 3: None, 4: "b"}
    assert place_as_neighbours(list(racks), 1, 3, 0, racks) == [(1, 2, 3)]
