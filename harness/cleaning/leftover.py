"""The leftovers of a dead run, of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Leftover:
    """One thing that a dead run left behind, proven to be its own."""

    kind: str
    """`process`, `mount`, `container`, `network`, `command`, `addresses`."""
    what: str
    """Its name in the run: `node-4`."""
    id: str
    """Its exact id, in the words of its kind: `pid 4711`, a mount point, a container's id, a command, `127.60.*`."""
    handle: Any = field(default=None, compare=False, repr=False)
    """The object that its kind needs to remove it."""

    def __str__(self) -> str:
        return f"{self.kind} {self.id}" if self.what in ("", self.id) else f"{self.kind} {self.what} ({self.id})"


class RemovalError(Exception):
    """Leftovers could not be removed; `args` has a message for each."""

    @classmethod
    def unless_none(cls, messages: Sequence[str]) -> None:
        if messages:
            raise cls(*messages)


class Remove(Protocol):
    """Remove leftovers of one kind, as far as possible, then raise RemovalError for those that are still there."""

    def __call__(self, found: Sequence[Leftover]) -> None: ...
