"""The log of one partition: segments of batches, the epochs they were written in, the newest ones in memory.

Batches stay opaque: a leader checks them and stamps offset and epoch on them, a follower takes them as they are.
What is acknowledged to the operating system survives the death of the process; `flush` makes it survive the machine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from fencepost.cluster_impl.storage import clean_stop
from fencepost.cluster_impl.storage.checkpoints import LEADER_EPOCHS, sync_directory, write_lines
from fencepost.cluster_impl.storage.compaction import CompactedSegment
from fencepost.cluster_impl.storage.epochs import LeaderEpochCache
from fencepost.cluster_impl.storage.recent import Memory, Tail
from fencepost.cluster_impl.storage.segment import Segment, segment_files, segment_path
from fencepost.cluster_impl.storage.segment_list import SegmentList
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire.batches import Batch
from fencepost.cluster_impl.wire.codec import Buffer, Malformed
from fencepost.cluster_impl.wire.errors import Error

DEFAULT_SEGMENT_BYTES = 1024 * 1024 * 1024
NO_SEGMENT_MS = 2**63 - 1

_READ_AHEAD_BYTES = 1024 * 1024

_shared_memory = Memory()


class InvalidBatch(Exception):
    """Batches that must not enter the log. `error` is the answer for a client."""

    def __init__(self, error: Error, message: str) -> None:
        super().__init__(message)
        self.error = error


class OffsetMismatch(Exception):
    """A leader's batch does not begin where this follower's log ends: there is a gap or an overlap."""

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(f"the batch begins at offset {found}, the log ends at {expected}")
        self.expected = expected
        self.found = found


class OffsetOutOfRange(Exception):
    """An offset before the start of the log or after its end."""


@dataclass(frozen=True, slots=True)
class Appended:
    base_offset: int
    last_offset: int


@dataclass(frozen=True, slots=True)
class TimestampedOffset:
    offset: int
    timestamp: int
    """Milliseconds since 1970."""


class Log:
    """Use `Log.open`. Not safe for several threads."""

    def __init__(self, directory: Path, segment_bytes: int, memory: Memory) -> None:
        self.directory = directory
        self.recovered_bytes_cut = 0
        """Torn or damaged bytes that were cut at open."""
        self.segment_bytes = segment_bytes
        self.segment_ms = NO_SEGMENT_MS
        """A segment ends before a batch that is this many milliseconds newer than its first."""
        self.stopped_cleanly = False
        """True if the log was opened as a clean stop had left it, without being read."""
        self.stopped_producers: Any = None
        """The value that `stop` was given, if the log was stopped cleanly."""
        self._removal_not_durable = False
        """True if a failing machine may bring the file of the last clean stop back."""
        self._start_offset = 0
        self.segments = SegmentList(directory)
        self._tail = Tail(memory)
        self.epochs = LeaderEpochCache(lambda: self.log_end_offset, lambda: None)

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        segment_bytes: int = DEFAULT_SEGMENT_BYTES,
        memory: Memory = _shared_memory,
        start_offset: int = 0,
    ) -> Self:
        """Open or create the log, in a folder that exists. Records before `start_offset` are not there any more.

        Every batch is verified; the log ends before the first that is torn or damaged. The epochs are taken from the
        batches, which are read anyway; the checkpoint file is for other programs. After a clean stop nothing is read.
        Raises OSError.
        """
        if not directory.is_dir():
            directory.mkdir()
        log = cls(directory, segment_bytes, memory)
        log._recover()
        if start_offset > log.log_end_offset:
            log.begin_anew(start_offset)
        elif start_offset > log.log_start_offset:
            log.advance_start(start_offset)
        if log.log_end_offset or (directory / LEADER_EPOCHS).exists():
            log._write_epochs()
        log.epochs.changed = log._write_epochs
        return log

    @property
    def log_start_offset(self) -> int:
        """The first offset that can be read. Its batch, and its segment, may begin before."""
        return max(self._start_offset, self.segments.base_offset)

    def begins_segment(self, offset: int) -> bool:
        """Return True if a log that begins at `offset` begins with a segment, so that its files say where it begins."""
        return offset == self.log_end_offset or any(segment.base_offset == offset for segment in self.segments)

    @property
    def log_end_offset(self) -> int:
        """The offset of the next record."""
        return self.segments.next_offset

    @property
    def size(self) -> int:
        return self.segments.size

    def append_as_leader(self, buffer: Buffer, leader_epoch: int) -> Appended:
        """Stamp base offsets and `leader_epoch` into the batches (in place if the buffer is writable) and appends.

        All or nothing. The buffer must not be changed afterwards. Raises InvalidBatch, OSError.
        """
        view = memoryview(buffer)
        if view.readonly:
            view = memoryview(bytearray(view))
        batches = _checked(view)
        for batch in batches:
            if batch.count != batch.last_offset_delta + 1:
                raise InvalidBatch(
                    Error.INVALID_RECORD,
                    f"a batch of {batch.count} records spans {batch.last_offset_delta + 1} offsets",
                )
        base_offset = next_offset = self.log_end_offset
        for batch in batches:
            batch.base_offset, batch.leader_epoch = next_offset, leader_epoch
            format_.patch(batch.view, 0, next_offset, leader_epoch)
            next_offset = batch.next_offset
        self._append(batches, view)
        for batch in batches:
            self._tail.append(batch)
        return Appended(base_offset, next_offset - 1)

    def append_as_follower(self, buffer: Buffer) -> Appended:
        """Append a leader's batches as they are. All or nothing. Raises InvalidBatch, OffsetMismatch, OSError."""
        view = memoryview(buffer)
        batches = _checked(view)
        base_offset = next_offset = self.log_end_offset
        for batch in batches:
            if batch.base_offset != next_offset:
                raise OffsetMismatch(next_offset, batch.base_offset)
            next_offset = batch.next_offset
        self._tail.clear()
        self._append(batches, view)
        return Appended(base_offset, next_offset - 1)

    def read(self, offset: int, max_bytes: int, limit_offset: int) -> Buffer:
        """Return whole batches, beginning with the one that holds `offset` and ending before `limit_offset`.

        The first is returned even if it alone is larger than `max_bytes`. Empty at the end or limit. A read ends
        with its segment; the next one goes on behind. Raises OffsetOutOfRange.
        """
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise OffsetOutOfRange(f"{offset} is not in {self.log_start_offset}..{self.log_end_offset}")
        if offset >= min(limit_offset, self.log_end_offset):
            return b""
        recent = self._tail.read(offset, max_bytes, limit_offset)
        if recent is not None:
            return recent
        return self.segments.holding(offset).read(offset, max_bytes, limit_offset)

    def batches(self, from_offset: int) -> Iterator[Batch]:
        """Yield the batches from the one that holds `from_offset` to the end of the log."""
        while from_offset < self.log_end_offset:
            for batch in format_.split(self.read(from_offset, _READ_AHEAD_BYTES, self.log_end_offset)):
                yield batch
                from_offset = batch.next_offset

    def truncate_to(self, offset: int) -> int:
        """Drop every batch that holds `offset` or a later one; return the new end, which may lie before `offset`."""
        if offset >= self.log_end_offset:
            return self.log_end_offset
        self._distrust_stop()
        self.segments.truncate_to(offset)
        end = self.log_end_offset
        self._tail.truncate_to(end)
        self.epochs.truncate_from_end(end)
        return end

    def roll(self) -> None:
        """Begin a new segment, unless the last one is empty. Raises OSError."""
        self.segments.roll()

    def advance_start(self, offset: int) -> None:
        """Begin at `offset`, not after the end, from now on, and delete the segments that end before. Raises OSError.

        The caller has recorded the offset: after a crash the log begins at the first segment.
        """
        self._start_offset = max(self._start_offset, offset)
        if offset == self.log_end_offset:
            self.roll()
        self.cut_before(offset)

    def expired_before(self, limit: int, now_ms: int, retention_ms: int, retention_bytes: int) -> int:
        """Return the offset before which retention deletes: the begin of a segment, or the end of the log.

        A segment goes if its newest record is older than `retention_ms`, or if the segments behind it have
        `retention_bytes` without it, both unless negative; never one that ends behind `limit`, nor one behind a
        segment that stays.
        """
        start, size = self.log_start_offset, self.size
        for segment in self.segments:
            is_old = 0 <= retention_ms < now_ms - segment.max_timestamp
            is_too_much = 0 <= retention_bytes <= size - segment.size
            if not segment.size or segment.next_offset > limit or not (is_old or is_too_much):
                break
            start, size = segment.next_offset, size - segment.size
        return max(start, self.log_start_offset)

    def cut_before(self, offset: int) -> None:
        """Delete the segments that end at or before `offset`. No flush may run meanwhile. Raises OSError."""
        self.segments.cut_before(offset)
        self.epochs.truncate_from_start(self.log_start_offset)

    def begin_anew(self, offset: int) -> None:
        """Delete all records; the next one has `offset`. No flush may run meanwhile. Raises OSError."""
        self._distrust_stop()
        self.segments.begin_anew(offset)
        self._start_offset = 0
        self._tail.clear()
        self.epochs.clear()
        sync_directory(self.directory)

    def offset_for_timestamp(self, timestamp: int) -> TimestampedOffset | None:
        """Return the first record that is at least as new as `timestamp`.

        Of a compressed batch, which is not looked into, it is the first record.
        """
        for segment in self.segments:
            for header in segment.batches_at_or_after(timestamp):
                if header.next_offset > self.log_start_offset:
                    record = self._first_in_batch(header, timestamp)
                    if record is not None:
                        return record
        return None

    def newest_timestamp(self) -> TimestampedOffset | None:
        """Return the first record with the largest timestamp in the log."""
        newest = max(segment.newest_from(self.log_start_offset) for segment in self.segments)
        return self.offset_for_timestamp(newest) if newest >= 0 else None

    def flush(self) -> None:
        """Make all records that were appended before the call durable. Raises OSError.

        The one method that another thread may run, while this one appends.
        """
        self.segments.flush()

    def verify(self) -> None:
        """Check that the active segment file still has its name. Raises OSError.

        Appends go through an open file and never notice that it was moved away, until the next segment.
        """
        self.segments.active.path.stat()

    def stop(self, producers: Any = None) -> None:
        """Make the log durable, and save its state so that the next start need not read it. Raises OSError.

        `producers` is given back as `stopped_producers`. Nothing may be appended afterwards.
        """
        self.flush()
        if self.size >= clean_stop.LEAST_BYTES:
            segments = tuple(segment.stopped() for segment in self.segments)
            clean_stop.StoppedLog(segments, tuple(self.epochs.entries), producers).write(self.directory)

    def close(self) -> None:
        """Close the files without raising: they may be on a failed disk."""
        self._tail.clear()
        self.segments.close()

    def adopt_compacted(self, old: Sequence[Segment], compacted: Sequence[CompactedSegment]) -> bool:
        """Put compacted segments in the place of the first ones of the log. Raises OSError.

        False if the log has changed there meanwhile; then the new files are removed.
        """
        if not self.segments.begins_with(old):
            for replacement in compacted:
                replacement.path.unlink(missing_ok=True)
            return False
        self._distrust_stop()
        self._tail.drop_before(self.segments.replace_first(old, compacted))
        return True

    def _recover(self) -> None:
        paths, leftovers = segment_files(self.directory)
        for path in leftovers:
            path.unlink()
        if not paths:
            paths = [segment_path(self.directory, 0)]
        stopped = clean_stop.take(self.directory)
        if stopped is not None:
            self._removal_not_durable = True
            if stopped.describes(paths):
                self._adopt(stopped, paths)
                return
        for index, path in enumerate(paths):
            if self.segments and int(path.stem) != self.log_end_offset:
                if any(int(later.stem) == self.log_end_offset for later in paths[index:]):
                    path.unlink()  # A crash came between the compacted segment before and the removal of this one.
                    continue
                self._drop(paths[index:])
                break
            segment = Segment(path, lambda batch: self.epochs.assign(batch.leader_epoch, batch.base_offset))
            self.segments.append(segment)
            self.recovered_bytes_cut += segment.bytes_cut

    def _adopt(self, stopped: clean_stop.StoppedLog, paths: list[Path]) -> None:
        for path, segment in zip(paths, stopped.segments, strict=True):
            self.segments.append(Segment(path, lambda batch: None, segment))
        self.epochs.entries = list(stopped.epochs)
        self.stopped_cleanly, self.stopped_producers = True, stopped.producers
        self.segments.trust_as_durable()

    def _distrust_stop(self) -> None:
        """Make durable that the file of the last clean stop is gone, before bytes that it describes are replaced."""
        if self._removal_not_durable:
            sync_directory(self.directory)
            self._removal_not_durable = False

    def _drop(self, paths: list[Path]) -> None:
        """Segments that no longer follow on what is left before them."""
        for path in paths:
            self.recovered_bytes_cut += path.stat().st_size
            path.unlink()

    def _append(self, batches: list[Batch], data: memoryview) -> None:
        """Create the next segment before the append: an append that raises leaves no record behind."""
        active = self.segments.active
        if active.size and (
            active.size + len(data) > self.segment_bytes
            or batches[-1].max_timestamp - active.first_timestamp > self.segment_ms
        ):
            self.roll()
            active = self.segments.active
        entries = self.epochs.entries
        for batch in batches:
            if batch.leader_epoch != self.epochs.latest:
                self.epochs.assign(batch.leader_epoch, batch.base_offset)
        try:
            active.append(batches, data)
        except OSError:
            self.epochs.entries = entries
            with contextlib.suppress(OSError):
                self._write_epochs()
            raise

    def _first_in_batch(self, header: Batch, timestamp: int) -> TimestampedOffset | None:
        start = self.log_start_offset
        (batch, *_) = format_.split(self.read(max(header.base_offset, start), 0, self.log_end_offset))
        if batch.is_compressed:
            return TimestampedOffset(max(batch.base_offset, start), batch.base_timestamp)
        for record in format_.parse(batch):
            if record.timestamp >= timestamp and record.offset >= start:
                return TimestampedOffset(record.offset, record.timestamp)
        return None

    def _write_epochs(self) -> None:
        lines = [f"{epoch} {start}" for epoch, start in self.epochs.entries]
        write_lines(self.directory / LEADER_EPOCHS, lines, durable=False)


def _checked(view: memoryview) -> list[Batch]:
    """Return the batches in a buffer, verified. Raises InvalidBatch."""
    try:
        batches = format_.split(view)
    except Malformed as error:
        raise InvalidBatch(Error.CORRUPT_MESSAGE, str(error)) from error
    if not batches:
        raise InvalidBatch(Error.CORRUPT_MESSAGE, "there is no batch to append")
    for batch in batches:
        if not batch.verify_crc():
            raise InvalidBatch(Error.CORRUPT_MESSAGE, f"the checksum of {batch} is wrong")
    return batches
