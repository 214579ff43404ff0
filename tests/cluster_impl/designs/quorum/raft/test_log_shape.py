import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogGap, LogShape, recover
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd

Log = list[int]
"""The epoch of each record."""

logs = st.lists(st.integers(1, 6), max_size=12).map(sorted)


def tails(epochs: tuple[int, ...]) -> st.SearchStrategy[Log]:
    """Return the part that only one of two logs has: each epoch has one leader, so no two logs continue with the
    same."""
    return st.lists(st.sampled_from(epochs), max_size=6).map(sorted)


def shape_of(log: Log) -> LogShape:
    shape = LogShape()
    for offset, epoch in enumerate(log):
        shape.append(epoch, offset + 1)
    return shape


def test_an_empty_log_ends_in_epoch_0_and_is_a_prefix_of_every_log() -> None:
    assert LogShape().end == EpochEnd(0, 0)
    assert shape_of([1, 2]).divergence(EpochEnd(0, 0)) is None


@given(logs)
def test_every_epoch_ends_where_the_first_later_record_begins(log: Log) -> None:
    shape = shape_of(log)
    for epoch in range(8):
        below = [offset for offset, found in enumerate(log) if found <= epoch]
        assert shape.epoch_end(epoch) == EpochEnd(log[below[-1]] if below else 0, len(below))


@given(logs, st.integers(0, 12))
def test_a_truncated_log_has_the_shape_of_what_is_left(log: Log, end: int) -> None:
    shape = shape_of(log)
    shape.truncate(end)
    assert shape.end == shape_of(log[:end]).end
    assert [shape.epoch_end(epoch) for epoch in range(8)] == [
        shape_of(log[:end]).epoch_end(epoch) for epoch in range(8)
    ]


@given(logs, tails((8, 10, 12)), tails((7, 9, 11)))
def test_truncating_at_the_divergence_again_and_again_ends_at_the_common_prefix(
    common: Log, leaders: Log, followers: Log
) -> None:
    leader, follower = shape_of(common + leaders), shape_of(common + followers)
    while (diverging := leader.divergence(follower.end)) is not None:
        before = follower.end_offset
        follower.truncate(follower.truncation_point(diverging))
        assert follower.end_offset < before
    assert follower.end_offset == len(common)


@given(logs, st.data())
def test_a_log_that_was_cut_tells_the_same_of_all_that_it_reaches(log: Log, data: st.DataObject) -> None:
    whole, cut = shape_of(log), shape_of(log)
    start = whole.end_at(data.draw(st.integers(0, len(log))))
    cut.cut(start)
    assert cut.end == whole.end
    for offset in range(start.end_offset, len(log) + 1):
        assert cut.end_at(offset) == whole.end_at(offset)
    for other in (EpochEnd(epoch, offset) for epoch in range(8) for offset in range(14)):
        if cut.reaches(other):
            assert cut.divergence(other) == whole.divergence(other)
        else:
            assert other.end_offset < start.end_offset or other.epoch < start.epoch


def test_a_cut_log_reaches_its_own_start() -> None:
    shape = shape_of([1, 1, 3, 3])
    shape.cut(EpochEnd(1, 2))
    assert shape.reaches(EpochEnd(1, 2))
    assert shape.divergence(EpochEnd(1, 2)) is None
    assert not shape.reaches(EpochEnd(1, 1))
    assert not shape.reaches(EpochEnd(0, 3))


def entries(log: Log) -> list[tuple[int, int]]:
    return [(epoch, log.index(epoch)) for epoch in sorted(set(log))]


@given(logs, st.data())
def test_a_log_that_continues_its_snapshot_is_kept(log: Log, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.sets(st.integers(0, len(log)), min_size=1, max_size=2)))
    snapshots = tuple(shape_of(log).end_at(end) for end in ends)
    found = recover(entries(log), 0, len(log), snapshots)
    assert found.keeps_log
    assert (found.snapshots, found.shape.end) == (snapshots, shape_of(log).end)


def test_a_log_that_lacks_what_its_snapshot_has_begins_anew_behind_it() -> None:
    snapshot = EpochEnd(3, 10)
    for log in ([1, 1], [1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]):
        found = recover(entries(log), 0, len(log), (EpochEnd(1, 1), snapshot))
        assert not found.keeps_log
        assert (found.snapshots, found.shape.start, found.shape.end) == ((snapshot,), snapshot, snapshot)


def test_a_log_whose_start_no_good_snapshot_reaches_is_refused() -> None:
    for snapshots in ((), (EpochEnd(1, 3),)):
        with pytest.raises(LogGap, match="begins at offset 4"):
            recover([(1, 4)], 4, 6, snapshots)
    assert recover([(1, 4)], 4, 6, (EpochEnd(1, 3), EpochEnd(1, 5))).snapshots == (EpochEnd(1, 5),)
    assert recover([(1, 4)], 4, 6, (EpochEnd(1, 4), EpochEnd(1, 5))).shape.start == EpochEnd(1, 4)
