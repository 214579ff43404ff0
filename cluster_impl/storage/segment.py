"""One segment file of a log: whole batches with contiguous offsets, the first of which names the file.

Its sparse index is made while the file is scanned at open. After a clean stop nothing is scanned: what a scan would
find is known, and the index is read from its files when something is looked up for the first time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fencepost.cluster_impl.storage.clean_stop import StoppedSegment
from fencepost.cluster_impl.storage.compaction import COMPACTED_SUFFIX
from fencepost.cluster_impl.storage.sparse_index import SparseIndex, WrittenIndex, remove_indexes
from fencepost.cluster_impl.storage.write_path import Appender
from fencepost.cluster_impl.wire.batches import HEADER_BYTES, Batch, batch_size
from fencepost.cluster_impl.wire.codec import Buffer, Malformed

_SCAN_BYTES = 8 * 1024 * 1024
"""At least a header."""
_NO_TIMESTAMP = -1


def segment_path(directory: Path, base_offset: int) -> Path:
    return directory / f"{base_offset:020d}.log"


def segment_files(directory: Path) -> tuple[list[Path], list[Path]]:
    """Return the segment files in order, and the files that an interrupted compaction has left. Raises OSError."""
    paths = [Path(entry.path) for entry in os.scandir(directory)]
    segments = sorted(path for path in paths if path.suffix == ".log" and path.stem.isdecimal())
    return segments, [path for path in paths if path.suffix == COMPACTED_SUFFIX]


class Segment:
    """A segment file that is open for appending and reading. `next_offset` is the offset behind its last record."""

    def __init__(
        self,
        path: Path,
        visit: Callable[[Batch], object],
        stopped: StoppedSegment | None = None,
        index: SparseIndex | None = None,
    ) -> None:
        """Open or create the file, cut it after its longest valid prefix, and call `visit` with every batch.

        With `stopped`, which has to describe the file, nothing is read, cut or visited; `index` is then the index of
        the file, if it is at hand. Raises OSError.
        """
        self.path = path
        self.base_offset = int(path.stem)
        self.next_offset = self.base_offset
        self.first_timestamp = _NO_TIMESTAMP
        """The largest timestamp of the first batch."""
        self.max_timestamp = _NO_TIMESTAMP
        self._known_index: SparseIndex | None = SparseIndex()
        """None until it is read from its files."""
        self._written_index: WrittenIndex | None = None
        """The index files, as long as they fit the segment."""
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(self._fd).st_size
            valid = self._scan(size, visit) if stopped is None else self._adopt(stopped, index)
            self.bytes_cut = size - valid
            self._file = Appender(self._fd, valid)
            if self.bytes_cut:
                self._file.truncate(valid)
        except BaseException:
            os.close(self._fd)
            raise

    def _adopt(self, stopped: StoppedSegment, index: SparseIndex | None) -> int:
        self.next_offset = stopped.next_offset
        self.first_timestamp, self.max_timestamp = stopped.first_timestamp, stopped.max_timestamp
        self._known_index, self._written_index = index, stopped.index
        return stopped.size

    def stopped(self) -> StoppedSegment:
        """Return what the next start has to know; write the index files unless they are there. Raises OSError."""
        if self._known_index is not None and self._written_index is None:
            self._written_index = self._known_index.write(self.path, self.base_offset)
        stat = os.fstat(self._fd)
        return StoppedSegment(
            self.base_offset,
            stat.st_size,
            stat.st_mtime_ns,
            self.next_offset,
            self.first_timestamp,
            self.max_timestamp,
            self._written_index,
        )

    @property
    def size(self) -> int:
        return self._file.size

    def append(self, batches: Sequence[Batch], data: Buffer) -> None:
        """`data` is the bytes of the batches. Raises OSError, then nothing has changed."""
        position = self._file.size
        self._file.append((data,))
        for batch in batches:
            self._note(batch, position)
            position += batch.size

    def read(self, offset: int, max_bytes: int, limit_offset: int) -> Buffer:
        """Return whole batches from the one that holds `offset`, below `limit_offset`; at least one if there is one."""
        position = self._position_of(offset)
        chunk = self._pread(max(max_bytes, HEADER_BYTES), position)
        if len(chunk) < HEADER_BYTES:
            return b""
        first = Batch(chunk)
        if first.next_offset > limit_offset:
            return b""
        if first.size > len(chunk):
            return self._pread(first.size, position)
        end = first.size
        while len(chunk) - end >= HEADER_BYTES:
            batch = Batch(chunk[end:])
            if batch.next_offset > limit_offset or end + batch.size > len(chunk):
                break
            end += batch.size
        return chunk[:end]

    def batches_at_or_after(self, timestamp: int) -> Iterator[Batch]:
        """Yield the headers of the batches with a record that is at least as new as `timestamp`."""
        if timestamp <= self.max_timestamp:
            for batch in self._batches(self._index.position_before_time(timestamp)):
                if batch.max_timestamp >= timestamp:
                    yield batch

    def newest_from(self, offset: int) -> int:
        """Return the largest timestamp of the batches with `offset` or a later one; -1 without one."""
        if offset <= self.base_offset:
            return self.max_timestamp
        batches = self._batches(self._position_of(offset))
        return max((batch.max_timestamp for batch in batches), default=_NO_TIMESTAMP)

    def truncate_to(self, offset: int) -> None:
        """Drop every batch that holds `offset` or a later one."""
        if offset >= self.next_offset:
            return
        position = self._position_of(offset)
        last_entry = self._index.cut(position)
        self._written_index = None
        self._file.truncate(position)
        self.next_offset, last, self.max_timestamp = last_entry or (self.base_offset, 0, _NO_TIMESTAMP)
        for batch in self._batches(last):
            self.max_timestamp = max(self.max_timestamp, batch.max_timestamp)
            self.next_offset = batch.next_offset

    def flush(self) -> None:
        os.fdatasync(self._fd)

    def close(self) -> None:
        os.close(self._fd)

    def delete(self) -> None:
        self.close()
        self.path.unlink()
        remove_indexes(self.path)

    @property
    def _index(self) -> SparseIndex:
        if self._known_index is None:
            self._known_index = self._read_index()
        return self._known_index

    def _read_index(self) -> SparseIndex:
        """Read the index files; without good ones, the headers of all batches."""
        if self._written_index is not None:
            index = SparseIndex.read(self.path, self.base_offset, self._written_index)
            if index is not None:
                return index
        self._written_index = None
        index, position, newest = SparseIndex(), 0, _NO_TIMESTAMP
        for batch in self._batches(0):
            index.note(batch.base_offset, position, newest)
            position, newest = position + batch.size, max(newest, batch.max_timestamp)
        return index

    def _scan(self, size: int, visit: Callable[[Batch], object]) -> int:
        """Return the number of bytes at the beginning that are whole batches, undamaged and in order.

        Read piece by piece. A mapping would be as quick, but a disk that cannot be read would end the process (SIGBUS).
        """
        position, length = 0, _SCAN_BYTES
        while position < size:
            begin, piece = position, self._read(min(length, size - position), position)
            while (batch := _valid_batch(piece, position - begin, self.next_offset)) is not None:
                visit(batch)
                self._note(batch, position)
                position += batch.size
            if position > begin:
                length = _SCAN_BYTES
            elif max(len(piece), length) < (announced := _announced(piece)) <= size - position:
                length = announced
            else:
                break
        return position

    def _note(self, batch: Batch, position: int) -> None:
        self._index.note(batch.base_offset, position, self.max_timestamp)
        self._written_index = None
        if not position:
            self.first_timestamp = batch.max_timestamp
        self.max_timestamp = max(self.max_timestamp, batch.max_timestamp)
        self.next_offset = batch.next_offset

    def _position_of(self, offset: int) -> int:
        """Return the position of the batch that holds `offset`; the end if there is none."""
        position = self._index.position_before(offset)
        for batch in self._batches(position):
            if batch.next_offset > offset:
                break
            position += batch.size
        return position

    def _batches(self, position: int) -> Iterator[Batch]:
        """Yield the headers from `position` on. Their views hold the header only."""
        while position < self._file.size:
            batch = Batch(self._pread(HEADER_BYTES, position))
            yield batch
            position += batch.size

    def _pread(self, size: int, position: int) -> memoryview:
        return self._read(min(size, self._file.size - position), position)

    def _read(self, size: int, position: int) -> memoryview:
        return memoryview(os.pread(self._fd, size, position))


def _announced(piece: memoryview) -> int:
    """Return the length field of the batch at the beginning; 0 if it is none."""
    try:
        return batch_size(piece, 0) or 0
    except Malformed:
        return 0


def _valid_batch(view: memoryview, position: int, offset: int) -> Batch | None:
    try:
        size = batch_size(view, position)
    except Malformed:
        return None
    if size is None or size > len(view) - position:
        return None
    batch = Batch(view[position : position + size])
    in_order = batch.base_offset == offset and batch.last_offset_delta >= 0
    return batch if in_order and batch.verify_crc() else None
