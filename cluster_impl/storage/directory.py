"""One folder of a node's logs: who it belongs to, that one process has it, and which partitions it holds.

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

from cluster_impl.storage.checkpoints import LOG_START_OFFSETS, REPLICATION_OFFSETS, OffsetCheckpoint, replace_file

META_PROPERTIES = "meta.properties"
LOCK = ".lock"
PARTITION_METADATA = "partition.metadata"
BEGAN_EMPTY = "began-empty"
"""In the folder of a partition that was begun anew, until the replica is known to have what was committed."""

_DELETED_SUFFIX = "-delete"
_NAME_MAX = 255
"""Bytes of a file's name. A topic's may be 249 long, which is all ASCII."""


class LogDirError(Exception):
    """The folder cannot be used. The text says why and what to do."""


class Owner(Enum):
    """How `meta.properties` names its node: the key, and the version of the file that has it."""

    NODE_ID = ("node.id", 1)
    BROKER_ID = ("broker.id", 0)
    """Of brokers that run with ZooKeeper."""


class LogDir:
    """Use `LogDir.open`. Every method raises OSError; whoever catches it gives the folder up (`LogDirs.fail`)."""

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self.high_watermarks = OffsetCheckpoint(path / REPLICATION_OFFSETS)
        self.log_start_offsets = OffsetCheckpoint(path / LOG_START_OFFSETS)
        self.checkpointed = self.high_watermarks.read()
        """The high watermarks as they were written last, also of replicas that are not opened yet."""
        self._written: Mapping[tuple[str, int], int] | None = None
        self.held = set(self.partitions())
        """The partitions that have a folder here."""
        self._lock_fd = lock_fd

    @classmethod
    def open(cls, path: Path, cluster_id: str, node_id: int, owner: Owner = Owner.NODE_ID) -> Self:
        """Creates the folder if need be, locks it, and removes what an interrupted deletion left.

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
        """Every partition that has a folder here."""
        found = {}
        for folder in sorted(self.path.iterdir()):
            topic, _, number = folder.name.rpartition("-")
            if topic and number.isdecimal() and folder.is_dir():
                found[topic, int(number)] = folder
        return found

    def partition_path(self, topic: str, partition: int) -> Path:
        return self.path / f"{topic}-{partition}"

    def create(self, topic: str, partition: int) -> None:
        """Makes an empty folder for a partition. The folder of the logs itself is never made anew."""
        self.partition_path(topic, partition).mkdir()
        self.held.add((topic, partition))

    def topic_id(self, topic: str, partition: int) -> UUID | None:
        """What `set_topic_id` noted in the folder of a partition; None if nothing was. Raises LogDirError."""
        path = self.partition_path(topic, partition) / PARTITION_METADATA
        try:
            text = path.read_text("utf-8")
        except FileNotFoundError:
            path.parent.stat()  # Without the file it is an old folder; without the folder, something took it away.
            return None
        if not text:
            return None  # The machine failed before it was written, and with it the first records.
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
        """Removes a partition's folder, whose log must be closed. Interrupted, it is ended at the next open."""
        if (topic, partition) in self.held:
            folder = self.partition_path(topic, partition)
            suffix = f".{uuid4().hex}{_DELETED_SUFFIX}"
            doomed = folder.rename(self.path / f"{folder.name[: _NAME_MAX - len(suffix)]}{suffix}")
            self.held.discard((topic, partition))
            self.checkpointed.pop((topic, partition), None)
            shutil.rmtree(doomed)

    def misplaced(self) -> set[tuple[str, int]]:
        """The partitions whose folder is not where it was made."""
        with os.scandir(self.path) as entries:
            folders = {entry.name for entry in entries if entry.is_dir()}
        return {(topic, number) for topic, number in self.held if f"{topic}-{number}" not in folders}

    def checkpoint(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Writes the high watermarks of these replicas, and keeps what was known of others.

        Where nothing has changed the file's time is written, so that a folder that was taken away is noticed all the
        same.
        """
        known = {**self.checkpointed, **offsets}
        if known == self._written:
            os.utime(self.high_watermarks.path)
        else:
            self.high_watermarks.write(known)
        self.checkpointed, self._written = dict(known), known

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


def _claim(path: Path, cluster_id: str, node_id: int, owner: Owner) -> None:
    """The first node to open the folder owns it."""
    id_key, version = owner.value
    mine = {"version": str(version), "cluster.id": cluster_id, id_key: str(node_id)}
    if not path.exists():
        replace_file(path, "".join(f"{key}={value}\n" for key, value in mine.items()).encode())
        return
    theirs = _properties(path.read_text("utf-8"), "=")
    for key in ("cluster.id", id_key):
        if theirs.get(key) != mine[key]:
            raise LogDirError(
                f"{path.parent} belongs to {key} {theirs.get(key)}, this node has {mine[key]}; set another log.dirs"
            )


def _properties(text: str, separator: str) -> dict[str, str]:
    pairs = (line.partition(separator) for line in text.splitlines())
    return {key.strip(): value.strip() for key, found, value in pairs if found}
