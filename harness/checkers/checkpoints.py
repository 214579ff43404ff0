"""Read the checkpoint files of a node: high watermarks, and the leader epochs of a partition. Kafka's text format.

A checkpoint does not prove what is committed: after kill -9 it is stale.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

HIGH_WATERMARKS = "replication-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"


class BadCheckpoint(ValueError):
    """A checkpoint file has another format; the message names the file."""


def high_watermarks(log_dir: Path) -> Mapping[tuple[str, int], int]:
    """Return the high watermarks by topic and partition; none if there is no file, or an empty one.

    Raise BadCheckpoint for another format, OSError if the file cannot be read.
    """
    return {(topic, row[0]): row[1] for topic, row in _entries(log_dir / HIGH_WATERMARKS, 2, named=True)}


def high_watermark(log_dirs: Sequence[Path], topic: str, partition: int) -> int | None:
    """Return the checkpointed high watermark of a partition, from the log directory that has one; None if none has.

    A file that is replaced at this moment is read as the old or the new one. Raise BadCheckpoint for another format.
    """
    for log_dir in log_dirs:
        try:
            known = high_watermarks(log_dir)
        except OSError:
            continue
        if (topic, partition) in known:
            return known[topic, partition]
    return None


def leader_epochs(folder: Path) -> tuple[tuple[int, int], ...]:
    """Return each leader epoch with its first offset, from a partition's folder, in the order of the file.

    Raise BadCheckpoint for another format, OSError if the file cannot be read.
    """
    return tuple((row[0], row[1]) for _, row in _entries(folder / LEADER_EPOCHS, 2, named=False))


def _entries(path: Path, numbers: int, *, named: bool) -> list[tuple[str, tuple[int, ...]]]:
    """Return the name, if lines are `named`, and the numbers of each line after the version (0) and the line count."""
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    if not lines:
        return []
    try:
        version, count, rows = int(lines[0]), int(lines[1]), [line.split(" ") for line in lines[2:]]
        if version != 0 or count != len(rows) or any(len(row) != numbers + named for row in rows):
            raise ValueError
        return [(row[0] if named else "", tuple(map(int, row[named:]))) for row in rows]
    except (ValueError, IndexError):
        raise BadCheckpoint(f"{path} is not a checkpoint of version 0 with {numbers + named} columns") from None
