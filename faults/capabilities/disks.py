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
    """Nothing stands in its place."""


@dataclass(frozen=True)
class DirState:
    """The state of a log directory in the file system. `error`: the kernel's answer to opening it, None if it opens."""

    path: str
    error: str | None
    """`ENOTDIR`, `ENOENT`, …"""


class LogDirs(Protocol):
    """Break single log directories of a node, numbered from 0 in the order of its configuration."""

    def holding(self, node: str, partition: str) -> int:
        """Return the one that holds a partition (`t-0`). Raise CapabilityError if none does."""

    def break_(self, node: str, number: int, how: Broken) -> None:
        """Take it away with all that it holds. What a process has open in it goes on working; what it opens fails."""

    def restore(self, node: str, number: int) -> None:
        """Put back what was taken away; whatever stands in its place is moved out of the way."""

    def state(self, node: str, number: int) -> DirState: ...


class Operation(Enum):
    """The requests of a process to a file system, as far as rules distinguish them."""

    READ = "read"
    """Bytes of a file, as far as the kernel has to ask for them: what is in its cache is read without the disk."""
    WRITE = "write"
    """Bytes of a file, and making it longer."""
    GROW = "grow"
    """Those writes that need more disk space."""
    FSYNC = "fsync"
    """fsync or fdatasync of a file or a directory."""
    CREATE = "create"
    """A file or directory that was not there."""
    NAME = "name"
    """Names that change or vanish, files that are cut, times and permissions."""
    RENAME = "rename"
    """Names that become others; counts as `NAME` as well. A pattern is matched against the new one."""
    OPEN = "open"
    """Opening by name, files and directories."""


CHANGES = frozenset({Operation.WRITE, Operation.CREATE, Operation.NAME})
"""All that changes anything."""


@dataclass(frozen=True)
class DiskRule:
    """The treatment of some operations: first the delay, then the error; of a torn write the first bytes go through."""

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
class DiskProbe:
    """The result of an operation that was tried through the mount, under the same rules as those of the node.

    `seconds` is how long it took; `kept`, of a write, how many of its bytes are in the file.
    """

    error: str | None
    seconds: float
    kept: int | None = None


@dataclass(frozen=True)
class LostWrites:
    """The changes that a power loss undid."""

    files: Mapping[str, tuple[int, int]]
    """For each file that had bytes without fsync: its former length and its present one."""
    names: tuple[str, ...]
    """Creations, renames and removals that were undone."""


@dataclass(frozen=True)
class Flip:
    """A bit of a file that was turned over. `was` and `now` are the byte as it was and is."""

    file: str
    offset: int
    was: int
    now: int


@dataclass(frozen=True)
class StaleBlock:
    """A block of a file that was set back: `was` are its bytes just before, `now` those of an earlier time."""

    file: str
    offset: int
    was: bytes
    now: bytes


class Disks(Protocol):
    """Break single operations on the log directories of a node whose plan says `disk: breakable`.

    Every call raises CapabilityError with a message for a node whose directories cannot be broken.
    """

    def check(self, node: str) -> None:
        """Raise CapabilityError unless its directories are mounted, and the mounts answer."""

    def add(self, node: str, name: str, rule: DiskRule, dir: int | None = None) -> None:
        """Apply the rule in all log directories or one of them. It replaces a rule of the same name."""

    def remove(self, node: str, name: str) -> Mapping[str, int]:
        """Remove the rule; operations that wait for its delay go on. Return the operations of the node that met it, by
        kind."""

    def probe(self, node: str, operation: Operation, rule: DiskRule, dir: int | None = None) -> Collection[DiskProbe]:
        """Try an operation once in each directory, on a file of the fault's own that the rule's pattern is matched
        against."""

    def lose(self, nodes: Collection[str]) -> Mapping[str, LostWrites]:
        """Undo all that dead nodes did not make durable: the mounts are taken down, then made anew."""

    def durable(self, node: str) -> Collection[tuple[int, int]]:
        """Return, for the fault's own files, the bytes written with fsync before the last `lose`, and the bytes
        found."""

    def flip(self, node: str, file: str, at: int | Literal["last-batch"], byte: int, bit: int) -> Flip:
        """Turn over a bit of the newest file that matches, `byte` bytes behind `at`; the records of its last batch
        are counted round. What the kernel has of it in its cache is forgotten."""

    def flip_back(self, node: str, flip: Flip) -> bool:
        """Turn it over again if that part of the file is still the same. False if it was cut or written anew."""

    def read(self, node: str, file: str, offset: int) -> int | None:
        """Return one byte as a process reads it that opens the file now; None behind its end or without the file."""

    def remember(self, node: str) -> float:
        """Keep the earlier content of files from now on, if that has not begun. Return for how many seconds it is."""

    def set_back(
        self, node: str, file: str, age: float, *, first: int, count: int, behind_cuts: bool
    ) -> Collection[StaleBlock]:
        """Set blocks of the newest file that matches back to what they held `age` seconds ago; the file keeps its
        length and its times. What the kernel has of it in its cache is forgotten.

        At least to before the latest change. Of the blocks that were other then, `count` from the one with the number
        `first`, which is counted round. `behind_cuts`: no matter if the file was cut since. Raise CapabilityError if
        no block is known to have been other.
        """

    def set_forward(self, node: str, block: StaleBlock) -> bool:
        """Undo it, if the block still is what it was set back to. False if it was cut or written anew."""

    def on_disk(self, node: str, block: StaleBlock) -> bytes:
        """Return the bytes in its place, read from the disk and past all caches; none without the file."""
