"""Log directories of a node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol


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
        """Move it aside with all that it holds. What a process has open in it goes on working; what it opens fails."""

    def restore(self, node: str, number: int) -> None:
        """Put back what was moved aside; whatever stands in its place is moved out of the way."""

    def state(self, node: str, number: int) -> DirState: ...
