"""What ZooKeeper holds and tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Stat:
    czxid: int
    """The transaction that created the znode: grows with each creation, across paths and sessions."""
    mzxid: int
    """The transaction that changed its data last."""
    pzxid: int
    """The transaction that changed its list of children last."""
    version: int
    """How often its data changed since it was created: what compare-and-set compares."""
    ephemeral_owner: int
    """The id of the session that it goes with; 0 if it is persistent."""
    children: int = 0
    """How many it has."""


@dataclass(frozen=True, slots=True)
class Znode:
    data: bytes
    stat: Stat


@dataclass(frozen=True, slots=True)
class Created:
    path: str
    """With the number that ZooKeeper added, if it was created in sequence."""
    stat: Stat


class WatchKind(Enum):
    CREATED = "created"
    DELETED = "deleted"
    CHANGED = "changed"
    CHILDREN = "children"
    EXPIRED = "expired"
    """The session is over and the watch with it: nothing is known about the znode."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    kind: WatchKind
    path: str


Watch = Callable[[WatchEvent], None]
"""Called once, on the event loop."""


@dataclass(frozen=True, slots=True)
class Create:
    path: str
    data: bytes
    ephemeral: bool = False
    sequence: bool = False


@dataclass(frozen=True, slots=True)
class Set:
    path: str
    data: bytes
    version: int


@dataclass(frozen=True, slots=True)
class Delete:
    path: str
    version: int = -1


@dataclass(frozen=True, slots=True)
class Check:
    """Holds if the znode exists at this version."""

    path: str
    version: int


MultiOperation = Create | Set | Delete | Check
MultiResult = str | Stat | None
"""The path of what was created, the new stat of what was set, nothing for the others."""
