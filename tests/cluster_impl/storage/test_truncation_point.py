"""A follower's log becomes a prefix of its leader's, whatever both have lived through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cluster_impl.storage.epochs import LeaderEpochCache, truncation_point


def epochs(log: list[int]) -> LeaderEpochCache:
    """The epochs of a log that is given as one epoch for each record."""
    cache = LeaderEpochCache(lambda: len(log), lambda: None)
    for offset, epoch in enumerate(log):
        cache.assign(epoch, offset)
    return cache


def truncated(follower: list[int], leader: list[int]) -> tuple[list[int], int]:
    """The follower's log after as many questions as it needs, and how many those were. The leader's term is new."""
    log, questions = list(follower), 0
    while log:
        questions += 1
        leading = epochs(leader)
        leading.assign(max([*leader, *follower]) + 1, len(leader))
        point = truncation_point(*leading.end_offset_for(log[-1]), epochs(log), len(log))
        log = log[: point.offset]
        if point.complete:
            break
    return log, questions


def test_what_the_leader_never_had_is_cut_and_what_it_has_is_kept() -> None:
    assert truncated([0, 0, 1, 1, 1], [0, 0, 1, 2]) == ([0, 0, 1], 1)
    assert truncated([0, 0], [0, 0, 0, 3]) == ([0, 0], 1)


def test_an_epoch_the_follower_lacks_takes_another_question() -> None:
    """KIP-279: fast failovers leave each side with epochs that the other does not know."""
    assert truncated([0, 0, 2, 2], [0, 1, 1, 3]) == ([0], 2)


def test_nothing_in_common_leaves_nothing() -> None:
    assert truncated([1, 1], [2, 2]) == ([], 1)
    assert truncated([1, 1], []) == ([], 1)


@given(st.data())
@pytest.mark.requirement("HW-04")
def test_the_follower_ends_as_a_prefix_of_the_leader_and_loses_nothing_they_share(data: st.DataObject) -> None:
    """Logs fork at some offset; each side then takes records of epochs that only it has, as in real leader terms."""
    shared = sorted(data.draw(st.lists(st.integers(0, 3), max_size=6)))
    later = st.integers(4, 12)
    owner = data.draw(st.lists(st.booleans(), min_size=13, max_size=13))
    mine = sorted(e for e in data.draw(st.lists(later, max_size=6)) if owner[e])
    theirs = sorted(e for e in data.draw(st.lists(later, max_size=6)) if not owner[e])
    log, questions = truncated(shared + mine, shared + theirs)
    assert log == shared
    assert questions <= len({*mine, *theirs}) + 1
