"""The last batches of each log in memory, so that followers and consumers at the tail cause no file reads."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from dataclasses import dataclass
from itertools import islice

from fencepost.cluster_impl.wire.batches import Batch
from fencepost.cluster_impl.wire.codec import Buffer

TAIL_BYTES = 4 * 1024 * 1024
TOTAL_BYTES = 32 * 1024 * 1024

_ENTRY_OVERHEAD_BYTES = 256


class Memory:
    """The memory limit of all tails together; the log whose last append is the oldest loses its batches first."""

    def __init__(self, total_bytes: int = TOTAL_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self.used = 0
        self.tail_bytes = tail_bytes
        self._total_bytes = total_bytes
        self._tails: OrderedDict[Tail, None] = OrderedDict()

    def grown(self, tail: Tail, by: int) -> None:
        self.used += by
        self._tails[tail] = None
        self._tails.move_to_end(tail)
        while self.used > self._total_bytes:
            next(iter(self._tails)).drop_oldest()

    def shrunk(self, tail: Tail, by: int) -> None:
        self.used -= by
        if not tail.used:
            self._tails.pop(tail, None)


@dataclass(slots=True)
class _Entry:
    base_offset: int
    next_offset: int
    data: memoryview

    @property
    def cost(self) -> int:
        return len(self.data) + _ENTRY_OVERHEAD_BYTES


class Tail:
    """The newest batches of one log, without gaps."""

    def __init__(self, memory: Memory) -> None:
        self.used = 0
        self._memory = memory
        self._entries: deque[_Entry] = deque()

    def append(self, batch: Batch) -> None:
        """Append a batch that follows the last one, and whose memory does not change any more."""
        entry = _Entry(batch.base_offset, batch.next_offset, _own(batch.view))
        self._entries.append(entry)
        self.used += entry.cost
        self._memory.grown(self, entry.cost)
        while self.used > self._memory.tail_bytes:
            self.drop_oldest()

    def read(self, offset: int, max_bytes: int, limit_offset: int) -> Buffer | None:
        """Read as `Log.read` does; return None if the batch with `offset` is not in memory."""
        entries = self._entries
        index = bisect_right(entries, offset, key=lambda entry: entry.base_offset) - 1
        if index < 0 or offset >= entries[-1].next_offset:
            return None
        batches: list[memoryview] = []
        size = 0
        for entry in islice(entries, index, None):
            size += len(entry.data)
            if entry.next_offset > limit_offset or (batches and size > max_bytes):
                break
            batches.append(entry.data)
        return batches[0] if len(batches) == 1 else b"".join(batches)

    def truncate_to(self, offset: int) -> None:
        while self._entries and self._entries[-1].next_offset > offset:
            self._forget(self._entries.pop())

    def drop_before(self, offset: int) -> None:
        """Drop the batches that end at or before `offset`."""
        while self._entries and self._entries[0].next_offset <= offset:
            self.drop_oldest()

    def drop_oldest(self) -> None:
        self._forget(self._entries.popleft())

    def clear(self) -> None:
        while self._entries:
            self.drop_oldest()

    def _forget(self, entry: _Entry) -> None:
        self.used -= entry.cost
        self._memory.shrunk(self, entry.cost)


def _own(view: memoryview) -> memoryview:
    """Return a view, or a copy if the batch is a small part of its frame: a view keeps the whole frame in memory."""
    frame = view.obj
    if isinstance(frame, bytes | bytearray) and len(frame) <= 2 * len(view) + _ENTRY_OVERHEAD_BYTES:
        return view
    return memoryview(bytes(view))
