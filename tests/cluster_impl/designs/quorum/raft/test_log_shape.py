from hypothesis import given
from hypothesis import strategies as st

from fencepost.cluster_impl.designs.quorum.raft.log_shape import LogShape
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
