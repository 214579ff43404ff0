"""The leader epoch cache against the rules of KIP-101, KIP-279 and KAFKA-10706."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fencepost.cluster_impl.storage.epochs import LeaderEpochCache


def cache(*entries: tuple[int, int], end: int = 100) -> LeaderEpochCache:
    made = LeaderEpochCache(lambda: end, lambda: None)
    for epoch, start_offset in entries:
        made.assign(epoch, start_offset)
    return made


def test_an_empty_cache_knows_no_end() -> None:
    assert cache().latest == -1
    assert cache().end_offset_for(0) == (-1, -1)
    assert cache().epoch_at(0) == -1


def test_the_latest_epoch_ends_with_the_log() -> None:
    assert cache((2, 10)).end_offset_for(2) == (2, 100)


def test_an_earlier_epoch_ends_where_the_next_begins() -> None:
    known = cache((2, 10), (5, 30), (7, 60))
    assert known.end_offset_for(2) == (2, 30)
    assert known.end_offset_for(5) == (5, 60)


def test_an_epoch_without_records_is_answered_by_the_one_before_it() -> None:
    known = cache((2, 10), (5, 30), (7, 60))
    assert known.end_offset_for(6) == (5, 60)
    assert known.end_offset_for(4) == (2, 30)


def test_an_epoch_before_the_first_ends_where_the_first_begins() -> None:
    assert cache((2, 10), (5, 30)).end_offset_for(1) == (1, 10)


def test_a_later_epoch_and_none_are_unknown() -> None:
    known = cache((2, 10))
    assert known.end_offset_for(3) == (-1, -1)
    assert known.end_offset_for(-1) == (-1, -1)


def test_the_latest_epoch_keeps_its_start() -> None:
    assert cache((2, 10), (2, 50)).entries == [(2, 10)]


def test_an_epoch_at_the_start_of_another_replaces_it() -> None:
    assert cache((2, 10), (3, 30), (4, 30)).entries == [(2, 10), (4, 30)]


def test_entries_that_contradict_a_new_one_are_dropped() -> None:
    known = cache((2, 10), (5, 30), (7, 60))
    known.assign(6, 40)
    assert known.entries == [(2, 10), (5, 30), (6, 40)]
    known.assign(9, 20)
    assert known.entries == [(2, 10), (9, 20)]


def test_truncation_drops_epochs_that_would_begin_at_the_end_or_later() -> None:
    known = cache((2, 10), (5, 30), (7, 60))
    known.truncate_from_end(61)
    assert known.latest == 7
    known.truncate_from_end(60)
    assert known.entries == [(2, 10), (5, 30)]
    known.truncate_from_end(10)
    assert known.entries == []


def test_changes_and_only_changes_are_announced() -> None:
    changes: list[int] = []
    known = LeaderEpochCache(lambda: 100, lambda: changes.append(known.latest))
    known.assign(2, 10)
    known.assign(2, 20)
    known.truncate_from_end(50)
    known.truncate_from_end(5)
    assert changes == [2, -1]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 100)), max_size=20), st.integers(0, 100))
def test_epochs_and_offsets_always_grow(assignments: list[tuple[int, int]], end: int) -> None:
    known = cache(*assignments, end=200)
    known.truncate_from_end(end)
    for earlier, later in zip(known.entries, known.entries[1:], strict=False):
        assert earlier.epoch < later.epoch
        assert earlier.start_offset < later.start_offset
    for entry in known.entries:
        assert known.epoch_at(entry.start_offset) == entry.epoch
