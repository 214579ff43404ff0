"""The segments of one log, in order: which holds an offset, which are durable, and which may go."""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from fencepost.cluster_impl.storage.checkpoints import sync_directory
from fencepost.cluster_impl.storage.compaction import CompactedSegment
from fencepost.cluster_impl.storage.segment import Segment, segment_path
from fencepost.cluster_impl.storage.sparse_index import remove_indexes


class SegmentList:
    """An open log has at least one segment; the last one is written, and is `active`. Methods raise OSError."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._segments: list[Segment] = []
        self._flushed = 0
        """Segments that need no flush any more: all before this index."""
        self._names_durable = False
        self._compacted_before = 0

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    @property
    def active(self) -> Segment:
        return self._segments[-1]

    @property
    def base_offset(self) -> int:
        return self._segments[0].base_offset

    @property
    def next_offset(self) -> int:
        return self._segments[-1].next_offset

    @property
    def size(self) -> int:
        """Bytes in all segments."""
        return sum(segment.size for segment in self._segments)

    def append(self, segment: Segment) -> None:
        """Take a segment as it was opened from its file."""
        self._segments.append(segment)

    def trust_as_durable(self) -> None:
        """Note that a clean stop has made all segments durable."""
        self._flushed, self._names_durable = len(self._segments) - 1, True

    def roll(self) -> None:
        """Begin a new segment, unless the last one is empty."""
        if self.active.size:
            self._segments.append(Segment(segment_path(self._directory, self.next_offset), lambda batch: None))
            self._names_durable = False

    def holding(self, offset: int) -> Segment:
        """Return the segment with an offset that is in the log."""
        return self._segments[self._index_of(offset)]

    def _index_of(self, offset: int) -> int:
        return bisect_right(self._segments, offset, key=lambda segment: segment.base_offset) - 1

    def truncate_to(self, offset: int) -> None:
        """Drop every batch that holds `offset` or a later one."""
        kept = max(self._index_of(offset) + 1, 1)
        for segment in self._segments[kept:]:
            segment.delete()
        del self._segments[kept:]
        self.active.truncate_to(offset)
        self._flushed = min(self._flushed, kept - 1)

    def cut_before(self, offset: int) -> None:
        """Delete the segments that end at or before `offset`. No flush may run meanwhile."""
        while len(self._segments) > 1 and self._segments[1].base_offset <= offset:
            self._segments.pop(0).delete()
            self._flushed = max(self._flushed - 1, 0)

    def begin_anew(self, offset: int) -> None:
        """Delete all; the next record has `offset`. No flush may run meanwhile.

        The last segment goes first, so what a crash leaves has no hole.
        """
        while self._segments:
            self._segments.pop().delete()
        self._segments.append(Segment(segment_path(self._directory, offset), lambda batch: None))
        self._flushed = self._compacted_before = 0

    def flush(self) -> None:
        """Make all records that were appended before the call durable; may run in another thread than appends."""
        last = len(self._segments) - 1
        for segment in self._segments[self._flushed : last + 1]:
            segment.flush()
        if not self._names_durable:
            sync_directory(self._directory)
            self._names_durable = True
        self._flushed = last

    def close(self) -> None:
        """Close the files without raising: they may be on a failed disk."""
        for segment in self._segments:
            with contextlib.suppress(OSError):
                segment.close()
        self._segments.clear()

    # Compaction

    def closed(self, limit: int) -> tuple[Segment, ...]:
        """Return the segments, from the first, that are written no more and end at or before `limit`."""
        return tuple(takewhile(lambda segment: segment.next_offset <= limit, self._segments[:-1]))

    def dirty_ratio(self, closed: Sequence[Segment]) -> float:
        """Return the share of the bytes in these segments that was written since the last compaction."""
        total = sum(segment.size for segment in closed)
        dirty = sum(segment.size for segment in closed if segment.base_offset >= self._compacted_before)
        return dirty / total if total else 0.0

    def begins_with(self, closed: Sequence[Segment]) -> bool:
        """Return True if these are still the first segments, and not all."""
        return [*closed] == self._segments[: len(closed)] and len(closed) < len(self._segments)

    def replace_first(self, closed: Sequence[Segment], compacted: Sequence[CompactedSegment]) -> int:
        """Put compacted segments in the place of the first ones; return the offset before which all is compacted.

        One file after the other is replaced, the oldest first. Each covers the same offsets as what it replaces, so
        any part of them is a log.
        """
        made: list[Segment] = []
        for replacement in compacted:
            first, *others = closed[: replacement.covers]
            closed = closed[replacement.covers :]
            first.close()
            remove_indexes(first.path)
            replacement.path.replace(first.path)
            made.append(Segment(first.path, lambda batch: None, replacement.state, replacement.index))
            for segment in others:
                segment.delete()
            self._segments[: len(made) + len(others)] = made
        self._compacted_before = made[-1].next_offset
        self._flushed, self._names_durable = 0, False
        return self._compacted_before
