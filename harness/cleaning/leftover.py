"""What is found of a dead run, whatever kind of thing it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Leftover:
    """One thing that a dead run left behind, proven to be its own."""

    kind: str
    """`process`, `mount`, `container`, `network`, `addresses`."""
    what: str
    """What it was to the run: `node-4`."""
    id: str
    """Its exact id, in the words of its kind: `pid 4711`, a mount point, a container's id, `127.60.*`."""
    handle: Any = field(default=None, compare=False, repr=False)
    """What its kind needs to remove it."""

    def __str__(self) -> str:
        return f"{self.kind} {self.id}" if self.what in ("", self.id) else f"{self.kind} {self.what} ({self.id})"


class Unremovable(Exception):
    """What could not be removed: a sentence each, in `args`."""

    @classmethod
    def unless_none(cls, sentences: Sequence[str]) -> None:
        if sentences:
            raise cls(*sentences)


class Remove(Protocol):
    """Removes leftovers of one kind, as far as it can. Raises Unremovable at the end for those that are still there."""

    def __call__(self, found: Sequence[Leftover]) -> None: ...
