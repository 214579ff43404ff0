"""Znodes, their watches, and the writes that change them: the vocabulary of every other module of this package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

ANY_VERSION = -1


@dataclass(frozen=True, slots=True)
class Stat:
    czxid: int
    """The transaction that created the znode; grows with each creation, across paths and sessions."""
    mzxid: int
    """The transaction that last changed its data."""
    pzxid: int
    """The transaction that last changed its list of children."""
    version: int
    """The number of changes of its data since it was created; compare-and-set compares this."""
    ephemeral_owner: int
    """The id of the session that an ephemeral znode belongs to; 0 for a persistent znode."""
    children: int = 0
    """The number of its children."""
    is_own: bool = False
    """True for an ephemeral znode of the session that asks; set in the outcomes of steps only."""


@dataclass(frozen=True, slots=True)
class Znode:
    data: bytes
    stat: Stat


@dataclass(frozen=True, slots=True)
class CreatedZnode:
    path: str
    """The path, with the number that ZooKeeper appends to a sequential znode."""
    stat: Stat


class WatchKind(Enum):
    CREATED = "created"
    DELETED = "deleted"
    CHANGED = "changed"
    CHILDREN = "children"
    EXPIRED = "expired"
    """The session has ended and the watch with it; the state of the znode is unknown."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    kind: WatchKind
    path: str


Watch = Callable[[WatchEvent], None]
"""Called once, on the event loop."""


@dataclass(frozen=True, slots=True)
class Create:
    """Create a znode whose parent exists.

    An `ephemeral` znode is deleted with the session; ZooKeeper appends a number to the path of one in `sequence`.
    """

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequence: bool = False


@dataclass(frozen=True, slots=True)
class SetData:
    """Compare-and-set: change the data if the znode has this version."""

    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a znode without children if it has this version.

    `czxid` names one incarnation of the znode: a Delete that is executed alone, and whose answer was lost, is then not
    repeated on a znode that was created again, maybe with the same version.
    """

    path: str
    version: int = ANY_VERSION
    czxid: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Succeed if the znode exists at this version."""

    path: str
    version: int


Write = Create | SetData | Delete
MultiOperation = Write | Check
MultiResult = str | Stat | None
"""The path of a created znode, the new stat of a changed one, nothing for the others."""
