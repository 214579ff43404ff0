"""The folder of a node's logs: who it belongs to, that one process has it, and which partitions it holds.

Names and files are Kafka's: `meta.properties`, `.lock`, a folder `topic-partition` for each partition with a
`partition.metadata` that tells a topic from an earlier one of the same name.
"""

from __future__ import annotations

import base64
import fcntl
import os
import shutil
from pathlib import Path
from typing import Self
from uuid import UUID, uuid4

from cluster_impl.storage.checkpoints import LOG_START_OFFSETS, REPLICATION_OFFSETS, OffsetCheckpoint, replace_file

META_PROPERTIES = "meta.properties"
LOCK = ".lock"
PARTITION_METADATA = "partition.metadata"

_DELETED_SUFFIX = "-delete"


class LogDirError(Exception):
    """The folder cannot be used. The text says why and what to do."""


class LogDir:
    """Use `LogDir.open`."""

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self.high_watermarks = OffsetCheckpoint(path / REPLICATION_OFFSETS)
        self.log_start_offsets = OffsetCheckpoint(path / LOG_START_OFFSETS)
        self._lock_fd = lock_fd

    @classmethod
    def open(cls, path: Path, cluster_id: str, node_id: int) -> Self:
        """Creates the folder if need be, locks it, and removes what an interrupted deletion left.

        Raises LogDirError if another process has it or it belongs to another node or cluster.
        """
        path.mkdir(parents=True, exist_ok=True)
        lock_fd = _lock(path)
        try:
            _claim(path / META_PROPERTIES, cluster_id, node_id)
            for leftover in path.glob(f"*{_DELETED_SUFFIX}"):
                shutil.rmtree(leftover)
        except BaseException:
            os.close(lock_fd)
            raise
        return cls(path, lock_fd)

    def partitions(self) -> dict[tuple[str, int], Path]:
        """Every partition that has a folder here."""
        found = {}
        for folder in sorted(self.path.iterdir()):
            topic, _, number = folder.name.rpartition("-")
            if topic and number.isdecimal() and folder.is_dir():
                found[topic, int(number)] = folder
        return found

    def partition_path(self, topic: str, partition: int) -> Path:
        return self.path / f"{topic}-{partition}"

    def topic_id(self, topic: str, partition: int) -> UUID | None:
        """What `set_topic_id` noted; None if nothing was. Raises LogDirError."""
        path = self.partition_path(topic, partition) / PARTITION_METADATA
        if not path.exists():
            return None
        try:
            return UUID(bytes=base64.urlsafe_b64decode(_properties(path.read_text("utf-8"), ":")["topic_id"] + "=="))
        except (KeyError, ValueError) as error:
            raise LogDirError(f"{path} has no valid topic_id; remove its folder to start the replica anew") from error

    def set_topic_id(self, topic: str, partition: int, topic_id: UUID) -> None:
        folder = self.partition_path(topic, partition)
        folder.mkdir(exist_ok=True)
        encoded = base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")
        replace_file(folder / PARTITION_METADATA, f"version: 0\ntopic_id: {encoded}\n".encode())

    def delete(self, topic: str, partition: int) -> None:
        """Removes a partition's folder, whose log must be closed. Interrupted, it is ended at the next open."""
        folder = self.partition_path(topic, partition)
        if folder.exists():
            shutil.rmtree(folder.rename(self.path / f"{folder.name}.{uuid4().hex}{_DELETED_SUFFIX}"))

    def close(self) -> None:
        """Gives the lock back."""
        os.close(self._lock_fd)


def _lock(path: Path) -> int:
    fd = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise LogDirError(f"{path} is in use by another process; stop it, or set another log.dirs") from None
    return fd


def _claim(path: Path, cluster_id: str, node_id: int) -> None:
    """The first node to open the folder owns it."""
    mine = {"version": "1", "cluster.id": cluster_id, "node.id": str(node_id)}
    if not path.exists():
        replace_file(path, "".join(f"{key}={value}\n" for key, value in mine.items()).encode())
        return
    theirs = _properties(path.read_text("utf-8"), "=")
    for key in ("cluster.id", "node.id"):
        if theirs.get(key) != mine[key]:
            raise LogDirError(
                f"{path.parent} belongs to {key} {theirs.get(key)}, this node has {mine[key]}; set another log.dirs"
            )


def _properties(text: str, separator: str) -> dict[str, str]:
    pairs = (line.partition(separator) for line in text.splitlines())
    return {key.strip(): value.strip() for key, found, value in pairs if found}
