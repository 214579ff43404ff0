"""Kafka's small text files of checkpoints: a version, a count, and a line for each entry."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_VERSION = 0

REPLICATION_OFFSETS = "replication-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"


class CorruptCheckpoint(Exception):
    """A checkpoint file that cannot be read. The message names the file and the reason."""


def replace_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Replace a file by rename, so that it is either old or new; `durable` makes that true if the machine fails.

    Without, that may leave the old file, none, or an empty one. It takes milliseconds less, on a busy disk many.
    """
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    temporary.replace(path)
    if durable:
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make new, renamed and removed names in a folder durable."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class OffsetCheckpoint:
    """Offsets by (topic, partition), as in `replication-offset-checkpoint`: lines of `topic partition offset`.

    No more durable than the records that they are about. An empty file is what a failed machine may leave: no offsets,
    which is always a careful answer.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, offsets: Mapping[tuple[str, int], int]) -> None:
        lines = [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]
        write_lines(self.path, lines, durable=False)

    def read(self) -> dict[tuple[str, int], int]:
        """Empty if there is no file yet. Raises CorruptCheckpoint."""
        offsets: dict[tuple[str, int], int] = {}
        if self.path.exists() and not self.path.stat().st_size:
            return offsets
        for topic, partition, offset in read_lines(self.path, columns=3):
            offsets[topic, _number(self.path, partition)] = _number(self.path, offset)
        return offsets


def write_lines(path: Path, lines: Iterable[str], *, durable: bool = True) -> None:
    rows = list(lines)
    content = "".join(f"{row}\n" for row in (_VERSION, len(rows), *rows))
    replace_file(path, content.encode(), durable=durable)


def read_lines(path: Path, columns: int) -> list[Sequence[str]]:
    """Return the entries, split into `columns`; none if there is no file. Raises CorruptCheckpoint."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise CorruptCheckpoint(f"{path} is not text: {error}") from error
    if len(lines) < 2 or lines[0] != str(_VERSION):
        raise CorruptCheckpoint(f"{path} does not begin with version {_VERSION} and a count")
    if _number(path, lines[1]) != len(lines) - 2:
        raise CorruptCheckpoint(f"{path} claims {lines[1]} entries and has {len(lines) - 2}")
    entries = [line.split(" ") for line in lines[2:]]
    for entry in entries:
        if len(entry) != columns:
            raise CorruptCheckpoint(f"{path} has the entry {' '.join(entry)!r}, which does not have {columns} columns")
    return list(entries)


def _number(path: Path, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CorruptCheckpoint(f"{path} has {text!r} where a number belongs") from None
