"""Batches in memory: bounded for each log and for all, and never pinning more than they hold."""

from __future__ import annotations

from fencepost.cluster_impl.storage.recent import Memory, Tail
from fencepost.cluster_impl.wire import batches
from tests.cluster_impl.storage.records import batch

ALL = 1 << 60


def filled(memory: Memory, count: int, size: int = 1000) -> Tail:
    tail = Tail(memory)
    for number in range(count):
        tail.append(batches.split(batch(1, size=size, base_offset=number))[0])
    return tail


def held(tail: Tail) -> list[int]:
    return [offset for offset in range(1000) if tail.read(offset, 0, ALL) is not None]


def test_each_log_keeps_its_newest_batches_within_its_bound() -> None:
    memory = Memory(total_bytes=10**6, tail_bytes=10_000)
    tail = filled(memory, 100)
    assert tail.used <= 10_000
    assert held(tail) == list(range(93, 100))


def test_all_logs_together_keep_within_the_bound_and_the_idle_give_first() -> None:
    memory = Memory(total_bytes=19_000, tail_bytes=10_000)
    idle, busy, busiest = (filled(memory, 7) for _ in range(3))
    assert memory.used <= 19_000
    assert memory.used == idle.used + busy.used + busiest.used
    assert held(busy) == held(busiest) == list(range(7))
    assert held(idle) == []


def test_a_batch_larger_than_the_bounds_is_not_kept() -> None:
    memory = Memory(total_bytes=5000, tail_bytes=5000)
    tail = filled(memory, 1, size=10_000)
    assert (tail.used, memory.used, held(tail)) == (0, 0, [])


def test_truncation_forgets_what_is_gone() -> None:
    memory = Memory()
    tail = filled(memory, 10)
    tail.truncate_to(4)
    assert held(tail) == [0, 1, 2, 3]
    tail.clear()
    assert (tail.used, memory.used, held(tail)) == (0, 0, [])


def test_a_batch_that_fills_its_frame_is_kept_as_it_is_and_a_small_part_is_copied() -> None:
    whole = batch(1, size=10_000)
    frame = bytearray(100_000) + whole
    assert memory_behind(batches.split(whole)[0]) is whole
    copied = memory_behind(batches.split(memoryview(frame)[100_000:])[0])
    assert copied is not frame
    assert copied == whole


def memory_behind(kept: batches.Batch) -> object:
    tail = Tail(Memory())
    tail.append(kept)
    view = tail.read(0, 0, ALL)
    assert isinstance(view, memoryview)
    return view.obj
