"""One segment file of a log: whole batches with contiguous offsets, the first of which names the file.

A sparse index of offsets, positions and timestamps is made in memory while the file is scanned at open, so there are
no index files that could be wrong.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fencepost.cluster_impl.storage.write_path import Appender
from fencepost.cluster_impl.wire.batches import HEADER_BYTES, Batch, batch_size
from fencepost.cluster_impl.wire.codec import Buffer, Malformed

_INDEX_INTERVAL_BYTES = 4096
_SCAN_BYTES = 8 * 1024 * 1024
"""At least a header."""
_NO_TIMESTAMP = -1


def segment_path(directory: Path, base_offset: int) -> Path:
    return directory / f"{base_offset:020d}.log"


class Segment:
    """A segment file that is open for appending and reading. `next_offset` is the offset behind its last record."""

    def __init__(self, path: Path, visit: Callable[[Batch], object]) -> None:
        """Open or create the file, cut it after its longest valid prefix, and call `visit` with every batch."""
        self.path = path
        self.base_offset = int(path.stem)
        self.next_offset = self.base_offset
        self.max_timestamp = _NO_TIMESTAMP
        self._offsets = array("q")
        self._positions = array("q")
        self._timestamps = array("q")
        """The largest timestamp in the segment before the place that the index entry points to."""
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(self._fd).st_size
            valid = self._scan(size, visit)
            self.bytes_cut = size - valid
            self._file = Appender(self._fd, valid)
            if self.bytes_cut:
                self._file.truncate(valid)
        except BaseException:
            os.close(self._fd)
            raise

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

    def first_batch_at_or_after(self, timestamp: int) -> Batch | None:
        """Return the first batch with a record that is at least as new as `timestamp`."""
        if timestamp > self.max_timestamp:
            return None
        entry = bisect_left(self._timestamps, timestamp) - 1
        for batch in self._batches(self._positions[max(entry, 0)]):
            if batch.max_timestamp >= timestamp:
                return batch
        return None

    def truncate_to(self, offset: int) -> None:
        """Drop every batch that holds `offset` or a later one."""
        if offset >= self.next_offset:
            return
        position = self._position_of(offset)
        kept = bisect_left(self._positions, position)
        for index in (self._offsets, self._positions, self._timestamps):
            del index[kept:]
        self._file.truncate(position)
        last = self._positions[-1] if kept else 0
        self.max_timestamp = self._timestamps[-1] if kept else _NO_TIMESTAMP
        self.next_offset = self._offsets[-1] if kept else self.base_offset
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
        if not self._positions or position - self._positions[-1] >= _INDEX_INTERVAL_BYTES:
            self._offsets.append(batch.base_offset)
            self._positions.append(position)
            self._timestamps.append(self.max_timestamp)
        self.max_timestamp = max(self.max_timestamp, batch.max_timestamp)
        self.next_offset = batch.next_offset

    def _position_of(self, offset: int) -> int:
        """Return the position of the batch that holds `offset`; the end if there is none."""
        entry = bisect_right(self._offsets, offset) - 1
        position = self._positions[entry] if entry >= 0 else 0
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
