"""How writes are put together, and how one that may have happened is recognised."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.coordination.execution import MAX_BYTES, MAX_WRITES, packs, took_effect
from fencepost.cluster_impl.coordination.steps import (
    Absent,
    Create,
    Delete,
    Found,
    Outcome,
    SetData,
    Stat,
    Write,
)


def found(data: bytes, version: int) -> Found:
    return Found(data, Stat(7, 8, 8, version, 0))


def test_no_write_is_lost_or_moved_when_they_are_packed() -> None:
    writes: list[Write] = [SetData(f"/{at}", b"x" * (at % 7) * 10_000, 0) for at in range(1000)]
    made = list(packs(writes))
    assert [write for pack in made for write in pack] == writes
    assert all(len(pack) <= MAX_WRITES for pack in made)
    sizes = [sum(len(write.data) for write in pack if isinstance(write, SetData)) for pack in made]
    assert max(sizes) <= MAX_BYTES


def test_small_writes_fill_a_pack() -> None:
    assert [len(pack) for pack in packs([Delete("/a")] * (MAX_WRITES * 2 + 1))] == [MAX_WRITES, MAX_WRITES, 1]


def test_a_write_that_is_larger_than_a_pack_goes_alone() -> None:
    small, large = Create("/small"), Create("/large", b"x" * (MAX_BYTES + 1))
    assert list(packs([small, large, small])) == [[small], [large], [small]]


def test_nothing_to_write_is_no_pack() -> None:
    assert list(packs([])) == []


@pytest.mark.parametrize(
    ("write", "now", "ours"),
    [
        (Create("/a", b"x"), found(b"x", 0), True),
        (Create("/a", b"x"), found(b"y", 0), False),
        (Create("/a", b"x"), found(b"x", 1), False),
        (Create("/a", b"x"), Absent(), False),
        (SetData("/a", b"x", 4), found(b"x", 5), True),
        (SetData("/a", b"x", 4), found(b"x", 6), False),
        (SetData("/a", b"x", 4), found(b"y", 5), False),
        (SetData("/a", b"x", 4), Absent(), False),
        (Delete("/a", 4), Absent(), True),
        (Delete("/a", 4), found(b"", 0), False),
    ],
)
def test_a_write_took_effect_if_the_znode_is_as_it_would_have_left_it(write: Write, now: Outcome, ours: bool) -> None:
    assert took_effect(write, now) is ours
