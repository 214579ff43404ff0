"""Reads the checkpoint files of a node: high watermarks, and the leader epochs of a partition. Kafka's text format.

They say what a node once wrote down, not what is committed: after kill -9 they are stale.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

HIGH_WATERMARKS = "replication-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"


class BadCheckpoint(ValueError):
    """A checkpoint file in another format; the sentence names it."""


def high_watermarks(log_dir: Path) -> Mapping[tuple[str, int], int]:
    """By topic and partition; empty without a file, or with an empty one. Raises BadCheckpoint, OSError."""
    return {(topic, row[0]): row[1] for topic, row in _entries(log_dir / HIGH_WATERMARKS, 2, named=True)}


def high_watermark(log_dirs: Sequence[Path], topic: str, partition: int) -> int | None:
    """What a node last wrote down for one partition, in whichever of its log directories; None if nowhere.

    A file that is being replaced at this moment is the old one or the new one. Raises BadCheckpoint.
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
    """Of a partition's folder: each epoch with its first offset, as they stand there. Raises BadCheckpoint, OSError."""
    return tuple((row[0], row[1]) for _, row in _entries(folder / LEADER_EPOCHS, 2, named=False))


def _entries(path: Path, numbers: int, *, named: bool) -> list[tuple[str, tuple[int, ...]]]:
    """A name, if lines have one, and so many numbers; after a version (0) and the count of lines."""
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
        raise BadCheckpoint(f"{path} is no checkpoint of version 0 with {numbers + named} columns") from None
