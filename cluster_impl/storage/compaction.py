"""Compaction: of the records with one key in the closed segments of a log, the last one stays.

Runs in a thread, on files that are written no more, and makes new ones; the log puts them into place. Offsets stay:
removed records leave a batch without records that spans their offsets, so that a log has no gaps and a gap means
damage, here as everywhere. A batch keeps its boundaries, its leader epoch and its producer; the last batch of each
producer stays even if it is empty, since a new leader learns the producer's sequence from it.

A tombstone (a record without a value) goes once it is older than `delete_retention_ms`. Compressed batches are not
looked into and stay whole; behind one, tombstones stay for ever, for it may hold an older record of their key. So do
records without a key.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from fencepost.cluster_impl.storage.clean_stop import StoppedSegment
from fencepost.cluster_impl.storage.sparse_index import SparseIndex
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire.batches import Batch, Record

COMPACTED_SUFFIX = ".compacted"

_READ_BYTES = 256 * 1024
_MAX_SPAN = 2**31 - 1
_PAUSE_S = 0.001


class Abandoned(Exception):
    """The compaction was asked to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionLimits:
    """Times are milliseconds. `stopped` is asked often; once it returns True the compaction ends with Abandoned."""

    now_ms: int
    delete_retention_ms: int
    segment_bytes: int
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class CompactedSegment:
    """A new file at `path`, durable, for the next `covers` segments; `state` describes it under its later name."""

    path: Path
    covers: int
    state: StoppedSegment
    index: SparseIndex


def compact(paths: Sequence[Path], limits: CompactionLimits) -> list[CompactedSegment]:
    """Compact consecutive closed segments, small ones into one. Raises OSError, Malformed and Abandoned.

    The old files are made durable first: a record must not go because of a later one that a failing machine loses.
    """
    latest = _Latest(limits)
    for path in paths:
        for batch in _batches(path, limits):
            latest.note(batch)
    made: list[CompactedSegment] = []
    writer: _Writer | None = None
    try:
        for path in paths:
            if writer is None or writer.size + path.stat().st_size > limits.segment_bytes:
                if writer is not None:
                    made.append(writer.finish())
                writer = _Writer(path)
            for batch in _batches(path, limits):
                latest.reduce(batch, writer)
            writer.covers += 1
        if writer is not None:
            made.append(writer.finish())
    except BaseException:
        if writer is not None:
            writer.abandon()
        for segment in made:
            segment.path.unlink(missing_ok=True)
        raise
    return made


def _batches(path: Path, limits: CompactionLimits) -> Iterator[Batch]:
    """Yield the batches of a segment; pause often, so that the event loop's thread has its turns."""
    with path.open("rb") as file:
        os.fdatasync(file.fileno())
        data = b""
        while piece := file.read(_READ_BYTES):
            data += piece
            view, position = memoryview(data), 0
            while (size := format_.batch_size(view, position)) is not None and size <= len(view) - position:
                yield Batch(view[position : position + size])
                position += size
            data = data[position:]
            if limits.stopped():
                raise Abandoned
            time.sleep(_PAUSE_S)


class _Latest:
    """The last offset of each key, and the last batch of each producer."""

    def __init__(self, limits: CompactionLimits) -> None:
        self._limits = limits
        self._offsets: dict[bytes, int] = {}
        self._of_producer: dict[int, int] = {}
        self._saw_compressed = False

    def note(self, batch: Batch) -> None:
        if batch.has_producer_id:
            self._of_producer[batch.producer_id] = batch.base_offset
        if not batch.is_compressed and not batch.is_control:
            for record in format_.parse(batch):
                if record.key is not None:
                    self._offsets[record.key] = record.offset

    def reduce(self, batch: Batch, writer: _Writer) -> None:
        """Write what stays of a batch."""
        if batch.is_compressed or batch.is_control:
            self._saw_compressed = self._saw_compressed or batch.is_compressed
            writer.write(batch, bytes(batch.view))
            return
        records = format_.parse(batch)
        kept = [record for record in records if self._stays(record)]
        if kept and len(kept) == len(records):
            writer.write(batch, bytes(batch.view))
        elif kept or (batch.has_producer_id and self._of_producer[batch.producer_id] == batch.base_offset):
            reduced = format_.without_records(batch, kept)
            writer.write(Batch(memoryview(reduced)), reduced)
        else:
            writer.leave_out(batch)

    def _stays(self, record: Record) -> bool:
        if record.key is None:
            return True
        if self._offsets[record.key] != record.offset:
            return False
        is_old = record.timestamp < self._limits.now_ms - self._limits.delete_retention_ms
        return record.value is not None or not is_old or self._saw_compressed


@dataclass(slots=True)
class _Writer:
    """The file that takes the place of one or more segments."""

    first: Path
    covers: int = 0
    size: int = 0
    _index: SparseIndex = field(default_factory=SparseIndex)
    _next_offset: int = field(init=False)
    _first_timestamp: int = -1
    _max_timestamp: int = -1
    _left_out: tuple[int, int, int] | None = None
    """First and last offset and leader epoch of removed batches that are not written yet."""
    _file: BinaryIO = field(init=False)
    _path: Path = field(init=False)

    def __post_init__(self) -> None:
        self._next_offset = int(self.first.stem)
        self._path = self.first.with_suffix(COMPACTED_SUFFIX)
        self._file = self._path.open("wb")

    def leave_out(self, batch: Batch) -> None:
        known = self._left_out
        if known is not None and known[2] == batch.leader_epoch and batch.last_offset - known[0] <= _MAX_SPAN:
            self._left_out = (known[0], batch.last_offset, known[2])
            return
        self._flush_left_out()
        self._left_out = (batch.base_offset, batch.last_offset, batch.leader_epoch)

    def write(self, batch: Batch, data: bytes) -> None:
        self._flush_left_out()
        self._append(batch, data)

    def _flush_left_out(self) -> None:
        if self._left_out is not None:
            data = format_.empty(*self._left_out)
            self._left_out = None
            self._append(Batch(memoryview(data)), data)

    def _append(self, batch: Batch, data: bytes) -> None:
        self._index.note(batch.base_offset, self.size, self._max_timestamp)
        if not self.size:
            self._first_timestamp = batch.max_timestamp
        self._max_timestamp = max(self._max_timestamp, batch.max_timestamp)
        self._next_offset = batch.next_offset
        self._file.write(data)
        self.size += len(data)

    def finish(self) -> CompactedSegment:
        self._flush_left_out()
        self._file.flush()
        os.fsync(self._file.fileno())
        modified = os.fstat(self._file.fileno()).st_mtime_ns
        self._file.close()
        state = StoppedSegment(
            int(self.first.stem),
            self.size,
            modified,
            self._next_offset,
            self._first_timestamp,
            self._max_timestamp,
            None,
        )
        return CompactedSegment(self._path, self.covers, state, self._index)

    def abandon(self) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)
