"""The state of one log at a clean stop: with it the next start does not read every byte.

The file is of one partition, not of the node: a process that stops has opened some logs and not others, and what it
says about the others it cannot know (KAFKA-15375). It is removed before the log is used, so a crash, or a start that
fails half-way, leaves none. It is believed only as long as every segment has the size and the modification time that
it had, and no segment was added or removed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import crc32c

from fencepost.cluster_impl.storage.checkpoints import replace_file
from fencepost.cluster_impl.storage.epochs import EpochStart
from fencepost.cluster_impl.storage.sparse_index import WrittenIndex

CLEAN_STOP = "clean-stop"
LEAST_BYTES = 1024 * 1024
"""A smaller log is read as quickly as this file."""

_VERSION = 1


@dataclass(frozen=True, slots=True)
class StoppedSegment:
    """One segment at the stop: what a scan of the file would find. Timestamps are milliseconds since 1970."""

    base_offset: int
    size: int
    modified_ns: int
    next_offset: int
    first_timestamp: int
    max_timestamp: int
    index: WrittenIndex | None


@dataclass(frozen=True, slots=True)
class StoppedLog:
    segments: tuple[StoppedSegment, ...]
    epochs: tuple[EpochStart, ...]
    producers: Any
    """The producers' states as JSON (`ProducerStates.dump`); None if they were not known."""

    def write(self, directory: Path) -> None:
        """Write the file; the log must be durable already. Raises OSError."""
        document = {"version": _VERSION, **asdict(self), "epochs": [list(entry) for entry in self.epochs]}
        body = json.dumps(document, separators=(",", ":")).encode()
        replace_file(directory / CLEAN_STOP, b"%08x\n" % crc32c.crc32c(body) + body, durable=False)

    def describes(self, paths: Sequence[Path]) -> bool:
        """Return True if these segment files, sorted, are those of the stop, untouched since. Raises OSError."""
        if [int(path.stem) for path in paths] != [segment.base_offset for segment in self.segments]:
            return False
        stats = [path.stat() for path in paths]
        return [(stat.st_size, stat.st_mtime_ns) for stat in stats] == [
            (segment.size, segment.modified_ns) for segment in self.segments
        ]


def take(directory: Path) -> StoppedLog | None:
    """Read the file and remove it; None if there is none, or none that can be read. Raises OSError."""
    path = directory / CLEAN_STOP
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    path.unlink()
    checksum, _, body = content.partition(b"\n")
    if checksum != b"%08x" % crc32c.crc32c(body):
        return None
    document = json.loads(body)
    if document["version"] != _VERSION:
        return None
    segments = tuple(
        StoppedSegment(**{**segment, "index": segment["index"] and WrittenIndex(**segment["index"])})
        for segment in document["segments"]
    )
    return StoppedLog(segments, tuple(EpochStart(*start) for start in document["epochs"]), document["producers"])
