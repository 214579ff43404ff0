"""Disks of a node: whole log directories that fail, and single operations on files that do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol


class Broken(Enum):
    """How a log directory fails."""

    REPLACED = "replaced"
    """A regular file stands in its place."""
    REMOVED = "removed"
    """Nothing does."""


@dataclass(frozen=True)
class DirState:
    """What the file system says of a log directory. `error`: the kernel's answer to who opens it, None if it opens."""

    path: str
    error: str | None
    """`ENOTDIR`, `ENOENT`, …"""


class LogDirs(Protocol):
    """Break single log directories of a node, numbered from 0 in the order of its configuration."""

    def holding(self, node: str, partition: str) -> int:
        """The one that holds a partition (`t-0`). CapabilityError if none does."""

    def break_(self, node: str, number: int, how: Broken) -> None:
        """Take it away with all that it holds. What a process has open in it goes on working; what it opens fails."""

    def restore(self, node: str, number: int) -> None:
        """Put back what was taken away; whatever stands in its place is moved out of the way."""

    def state(self, node: str, number: int) -> DirState: ...


class Operation(Enum):
    """What a process asks of a file system, as far as rules tell it apart."""

    READ = "read"
    """Bytes of a file, as far as the kernel has to ask for them: what is in its cache is read without the disk."""
    WRITE = "write"
    """Bytes of a file, and making it longer."""
    GROW = "grow"
    """Of these, what takes room that was not taken yet."""
    FSYNC = "fsync"
    """Of a file or a directory; fdatasync, too."""
    CREATE = "create"
    """A file or directory that was not there."""
    NAME = "name"
    """Names that change or vanish, files that are cut, times and permissions."""
    OPEN = "open"
    """Opening by name, files and directories."""


CHANGES = frozenset({Operation.WRITE, Operation.CREATE, Operation.NAME})
"""All that changes anything."""


@dataclass(frozen=True)
class DiskRule:
    """What happens to some operations. First the delay, then the error; of a torn write the first bytes go through."""

    operations: frozenset[Operation]
    error: str | None = None
    """`EIO`, `ENOSPC`, `EROFS`, …"""
    delay_ms: int = 0
    torn_after: int | None = None
    """So many bytes of a write reach the file before `error` is answered."""
    files: str | None = None
    """A pattern (`t-0/*.log`) that the path in the log directory, or its last part, matches; None: all files."""
    to_write: bool = False
    """Opening counts only where it is to write."""


@dataclass(frozen=True)
class Probed:
    """What an operation met that was tried through the mount, by the same rules as those of the node.

    `seconds` is how long it took; `kept`, of a write, how many of its bytes are in the file.
    """

    error: str | None
    seconds: float
    kept: int | None = None


@dataclass(frozen=True)
class Lost:
    """What a power loss undid."""

    files: Mapping[str, tuple[int, int]]
    """Of each file that had bytes without fsync: how long it was, and how long it is now."""
    names: tuple[str, ...]
    """Creations, renames and removals that were undone."""


@dataclass(frozen=True)
class Flip:
    """A bit of a file that was turned over. `was` and `now` are the byte as it was and is."""

    file: str
    offset: int
    was: int
    now: int


class Disks(Protocol):
    """Break single operations on the log directories of a node whose plan says `disk: breakable`.

    Every call raises CapabilityError with a sentence for a node whose directories cannot be broken.
    """

    def check(self, node: str) -> None:
        """Raises CapabilityError unless its directories are mounted, and the mounts answer."""

    def add(self, node: str, name: str, rule: DiskRule, dir: int | None = None) -> None:
        """From now on, in all log directories or one of them. What has the name already is replaced."""

    def remove(self, node: str, name: str) -> Mapping[str, int]:
        """No more; what waits for its delay goes on. How many operations of the node met the rule, by kind."""

    def probe(self, node: str, operation: Operation, rule: DiskRule, dir: int | None = None) -> Collection[Probed]:
        """Try an operation once in each directory, on a file of ours that the rule's pattern is matched against."""

    def lose(self, nodes: Collection[str]) -> Mapping[str, Lost]:
        """Undo whatever was not made durable by nodes that are dead: the mounts are taken down, then made anew."""

    def durable(self, node: str) -> Collection[tuple[int, int]]:
        """Of files of ours: how many bytes were written with fsync before the last `lose`, and how many are there."""

    def flip(self, node: str, file: str, at: int | Literal["last-batch"], byte: int, bit: int) -> Flip:
        """Turn over a bit of the newest file that matches, `byte` bytes behind `at`; the records of its last batch
        are counted round. What the kernel has of it in its cache is forgotten."""

    def flip_back(self, node: str, flip: Flip) -> bool:
        """Turn it over again if that part of the file is still the same. False if it was cut or written anew."""

    def read(self, node: str, file: str, offset: int) -> int | None:
        """One byte as a process reads it that opens the file now; None behind its end or without the file."""
