"""One log dir of a node: its owner, its lock, and the folders of its partitions.

Names and files are Kafka's: `meta.properties`, `.lock`, a folder `topic-partition` for each partition with a
`partition.metadata` that tells a topic from an earlier one of the same name.
"""

from __future__ import annotations

import base64
import fcntl
import os
import shutil
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Self
from uuid import UUID, uuid4

from fencepost.cluster_impl.storage.checkpoints import (
    LOG_STARTS,
    REPLICATION_OFFSETS,
    OffsetCheckpoint,
    replace_file,
)

META_PROPERTIES = "meta.properties"
LOCK = ".lock"
PARTITION_METADATA = "partition.metadata"
BEGAN_EMPTY = "began-empty"
"""A file in the folder of a partition that began empty, until the replica is known to have all committed records."""

_DELETED_SUFFIX = "-delete"
_NAME_MAX = 255
"""Bytes of a file's name. A topic's name may have 249, all of them ASCII."""


class LogDirError(Exception):
    """The folder cannot be used. The message says why, and what to do."""


class Owner(Enum):
    """The key by which `meta.properties` names its node, and the version of the file that has this key."""

    NODE_ID = ("node.id", 1)
    BROKER_ID = ("broker.id", 0)
    """The key of brokers that run with ZooKeeper."""


class LogDir:
    """Made by `LogDir.open`. Every method raises OSError; the caller then gives the folder up (`LogDirs.fail`)."""

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self.high_watermarks = OffsetCheckpoint(path / REPLICATION_OFFSETS)
        self.checkpointed = self.high_watermarks.read()
        """The high watermarks of the last checkpoint, also of replicas that are not opened yet."""
        self.log_starts = OffsetCheckpoint(path / LOG_STARTS)
        self.checkpointed_starts = self.log_starts.read()
        """The starts of logs that begin within a segment, also of replicas that are not opened yet."""
        self._written: Mapping[tuple[str, int], int] | None = None
        self.held = set(self.partitions())
        """The partitions with a folder in this log dir."""
        self._lock_fd = lock_fd

    @classmethod
    def open(cls, path: Path, cluster_id: str, node_id: int, owner: Owner = Owner.NODE_ID) -> Self:
        """Create the folder if need be, lock it, and remove the leftovers of an interrupted deletion.

        Raises LogDirError if another process has it or it belongs to another node or cluster; OSError and
        CorruptCheckpoint if it cannot be used as it is.
        """
        path.mkdir(parents=True, exist_ok=True)
        lock_fd = _lock(path)
        try:
            _claim(path / META_PROPERTIES, cluster_id, node_id, owner)
            for leftover in path.glob(f"*{_DELETED_SUFFIX}"):
                shutil.rmtree(leftover)
            return cls(path, lock_fd)
        except BaseException:
            os.close(lock_fd)
            raise

    def partitions(self) -> dict[tuple[str, int], Path]:
        """Return the partitions with a folder in this log dir."""
        paths = {}
        for folder in sorted(self.path.iterdir()):
            topic, _, number = folder.name.rpartition("-")
            if topic and number.isdecimal() and folder.is_dir():
                paths[topic, int(number)] = folder
        return paths

    def partition_path(self, topic: str, partition: int) -> Path:
        return self.path / f"{topic}-{partition}"

    def create(self, topic: str, partition: int) -> None:
        """Create an empty folder for a partition. A log dir that has disappeared is not created again."""
        self.partition_path(topic, partition).mkdir()
        self.held.add((topic, partition))

    def topic_id(self, topic: str, partition: int) -> UUID | None:
        """Return the topic id in the folder of a partition; None if there is none. Raises LogDirError."""
        path = self.partition_path(topic, partition) / PARTITION_METADATA
        try:
            text = _read(path)
        except FileNotFoundError:
            path.parent.stat()  # Without the file it is an old folder; without the folder this raises OSError.
            return None
        if not text:
            return None  # The machine failed before the file and the first records were written.
        try:
            return UUID(bytes=base64.urlsafe_b64decode(_properties(text, ":")["topic_id"] + "=="))
        except (KeyError, ValueError) as error:
            raise LogDirError(f"{path} has no valid topic_id; remove its folder to start the replica anew") from error

    def set_topic_id(self, topic: str, partition: int, topic_id: UUID) -> None:
        encoded = base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")
        path = self.partition_path(topic, partition) / PARTITION_METADATA
        replace_file(path, f"version: 0\ntopic_id: {encoded}\n".encode(), durable=False)

    def note_empty(self, topic: str, partition: int) -> None:
        (self.partition_path(topic, partition) / BEGAN_EMPTY).touch()

    def noted_empty(self, topic: str, partition: int) -> bool:
        return (self.partition_path(topic, partition) / BEGAN_EMPTY).exists()

    def forget_empty(self, topic: str, partition: int) -> None:
        (self.partition_path(topic, partition) / BEGAN_EMPTY).unlink(missing_ok=True)

    def delete(self, topic: str, partition: int) -> None:
        """Remove a partition's folder, whose log must be closed. `open` completes an interrupted removal."""
        if (topic, partition) in self.held:
            folder = self.partition_path(topic, partition)
            suffix = f".{uuid4().hex}{_DELETED_SUFFIX}"
            doomed = folder.rename(self.path / f"{folder.name[: _NAME_MAX - len(suffix)]}{suffix}")
            self.held.discard((topic, partition))
            self.checkpointed.pop((topic, partition), None)
            if self.checkpointed_starts.pop((topic, partition), None) is not None:
                self.log_starts.write(self.checkpointed_starts)
            shutil.rmtree(doomed)

    def misplaced(self) -> set[tuple[str, int]]:
        """Return the partitions whose folder has disappeared."""
        with os.scandir(self.path) as entries:
            folders = {entry.name for entry in entries if entry.is_dir()}
        return {(topic, number) for topic, number in self.held if f"{topic}-{number}" not in folders}

    def checkpoint(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Write the high watermarks of these replicas, and keep those of other replicas.

        Where nothing has changed the file's time is written, so that a folder that was taken away is noticed all the
        same.
        """
        high_watermarks = {**self.checkpointed, **offsets}
        if high_watermarks == self._written:
            os.utime(self.high_watermarks.path)
        else:
            self.high_watermarks.write(high_watermarks)
        self.checkpointed, self._written = dict(high_watermarks), high_watermarks

    def note_start(self, topic: str, partition: int, offset: int | None) -> None:
        """Record at once where a log begins; None if its segment files say it."""
        known = dict(self.checkpointed_starts)
        if offset is None:
            known.pop((topic, partition), None)
        else:
            known[topic, partition] = offset
        if known != self.checkpointed_starts:
            self.log_starts.write(known)
            self.checkpointed_starts = known

    def close(self) -> None:
        """Release the lock."""
        os.close(self._lock_fd)


def _lock(path: Path) -> int:
    fd = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise LogDirError(f"{path} is in use by another process; stop it, or set another log.dirs") from None
    return fd


def _claim(path: Path, cluster_id: str, node_id: int, owner: Owner) -> None:
    """The first node to open the folder owns it."""
    id_key, version = owner.value
    mine = {"version": str(version), "cluster.id": cluster_id, id_key: str(node_id)}
    if not path.exists():
        replace_file(path, "".join(f"{key}={value}\n" for key, value in mine.items()).encode())
        return
    theirs = _properties(_read(path), "=")
    for key in ("cluster.id", id_key):
        if theirs.get(key) != mine[key]:
            raise LogDirError(
                f"{path.parent} belongs to {key} {theirs.get(key)}, this node has {mine[key]}; set another log.dirs"
            )


def _read(path: Path) -> str:
    """Return the text of a file; a byte that is no UTF-8 belongs to no valid value."""
    return path.read_text("utf-8", errors="replace")


def _properties(text: str, separator: str) -> dict[str, str]:
    pairs = (line.partition(separator) for line in text.splitlines())
    return {key.strip(): value.strip() for key, found, value in pairs if found}
