"""The sparse index of one segment: an entry for about every 4 KiB, in memory and as Kafka's two index files.

`.index` has pairs of (offset relative to the segment's, position), `.timeindex` pairs of (largest timestamp before that
place, relative offset). Both are written when a log is stopped cleanly, and are believed only with the checksum that
was recorded then (`clean_stop`): an index is never the reason for a wrong answer.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import crc32c

INTERVAL_BYTES = 4096

_PLACE = struct.Struct(">ii")
_TIME = struct.Struct(">qi")
_MAX_RELATIVE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class WrittenIndex:
    """The number of entries in the files of one index, and the checksum over both."""

    entries: int
    checksum: int


class SparseIndex:
    def __init__(self) -> None:
        self._offsets = array("q")
        self._positions = array("q")
        self._timestamps = array("q")
        """The largest timestamp in the segment before the place that the entry points to."""

    def __len__(self) -> int:
        return len(self._positions)

    def note(self, offset: int, position: int, timestamp_before: int) -> None:
        """Enter a batch, if the last entry is far enough away."""
        if not self._positions or position - self._positions[-1] >= INTERVAL_BYTES:
            self._offsets.append(offset)
            self._positions.append(position)
            self._timestamps.append(timestamp_before)

    def position_before(self, offset: int) -> int:
        """Return the position of a batch that begins at or before `offset`, as near as is known."""
        entry = bisect_right(self._offsets, offset) - 1
        return self._positions[entry] if entry >= 0 else 0

    def position_before_time(self, timestamp: int) -> int:
        """Return a position before which every record is older than `timestamp`."""
        entry = bisect_left(self._timestamps, timestamp) - 1
        return self._positions[max(entry, 0)] if self._positions else 0

    def cut(self, position: int) -> tuple[int, int, int] | None:
        """Drop the entries from `position` on; return offset, position and timestamp of the last one that is left."""
        kept = bisect_left(self._positions, position)
        for column in (self._offsets, self._positions, self._timestamps):
            del column[kept:]
        return (self._offsets[-1], self._positions[-1], self._timestamps[-1]) if kept else None

    def write(self, segment: Path, base_offset: int) -> WrittenIndex | None:
        """Write both files beside the segment. None if a number does not fit into them. Raises OSError."""
        if self._positions and max(self._positions[-1], self._offsets[-1] - base_offset) > _MAX_RELATIVE:
            return None
        relative = [offset - base_offset for offset in self._offsets]
        places = b"".join(map(_PLACE.pack, relative, self._positions))
        times = b"".join(map(_TIME.pack, self._timestamps, relative))
        places_path, times_path = index_paths(segment)
        places_path.write_bytes(places)
        times_path.write_bytes(times)
        return WrittenIndex(len(self), crc32c.crc32c(times, crc32c.crc32c(places)))

    @classmethod
    def read(cls, segment: Path, base_offset: int, written: WrittenIndex) -> Self | None:
        """Read what `write` wrote; None if the files have changed since, or are gone."""
        places_path, times_path = index_paths(segment)
        try:
            places, times = places_path.read_bytes(), times_path.read_bytes()
        except OSError:
            return None
        if crc32c.crc32c(times, crc32c.crc32c(places)) != written.checksum:
            return None
        if len(places) != written.entries * _PLACE.size or len(times) != written.entries * _TIME.size:
            return None
        index = cls()
        for (relative, position), (timestamp, _) in zip(
            _PLACE.iter_unpack(places), _TIME.iter_unpack(times), strict=True
        ):
            index._offsets.append(base_offset + relative)
            index._positions.append(position)
            index._timestamps.append(timestamp)
        return index


def index_paths(segment: Path) -> tuple[Path, Path]:
    """Return the paths of the offset index and of the time index of a segment."""
    return segment.with_suffix(".index"), segment.with_suffix(".timeindex")


def remove_indexes(segment: Path) -> None:
    """Remove the index files of a segment, if there are any. Raises OSError."""
    for path in index_paths(segment):
        path.unlink(missing_ok=True)
