"""What a core asks of ZooKeeper, and what it is told: the seam between deciding and doing.

A core is a generator. It yields a batch of operations and is sent their outcomes, one for each, in the same order:

    [found] = yield [Get("/controller_epoch")]

so it does no I/O, and a unit test runs it over a tree in memory. Whoever runs it (the driver) executes the operations
of a batch, never an empty one, in their order; how many of them travel together is its own affair, so no core relies on
a batch being atomic.

When the right to write is lost (with the session, or because a driver checks an epoch with each write), the core is
never resumed: it is closed. A core that owes somebody an answer gives it in `finally`.

A write whose fate is unknown (the connection broke) is executed again. Its outcome may then be BadVersion, NodeExists
or Absent although it was this write that came through; cores read again in such a case and compare. A znode in sequence
may come to be twice.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

ANY_VERSION = -1


@dataclass(frozen=True, slots=True)
class Get:
    """Data of a znode: Found or Absent. With `watch`, a change or the deletion of a znode that was found is told."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Children:
    """Names of the children: Names or Absent. With `watch`, the next child that comes or goes is told."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """Present or Absent. With `watch`, creation, change and deletion are told, whichever comes next."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    """A znode whose parent exists: Done, NodeExists, or Absent if the parent does not.

    One that is `ephemeral` goes with the session that asks; to one in `sequence` ZooKeeper adds a number. For both of
    these the outcome is Created in place of Done.
    """

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequence: bool = False


@dataclass(frozen=True, slots=True)
class SetData:
    """Compare-and-set: Done if the znode had this version, else BadVersion; Absent if there is none."""

    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    """Done, Absent, BadVersion, or NotEmpty for a znode that has children.

    `czxid`, of a Delete that is executed alone: one that was made anew, maybe with the same version, is another's; a
    Delete whose answer was lost is not repeated on it.
    """

    path: str
    version: int = ANY_VERSION
    czxid: int | None = None


Read = Get | Children | Exists
Write = Create | SetData | Delete
Operation = Read | Write


@dataclass(frozen=True, slots=True)
class Stat:
    """`version` counts the changes of the data. The transaction ids grow over all znodes: `czxid` is that of the
    creation, `mzxid` that of the last change of the data. `is_own`: an ephemeral znode of the session that asks."""

    version: int
    czxid: int
    mzxid: int
    is_own: bool = False
    children: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    data: bytes
    stat: Stat


@dataclass(frozen=True, slots=True)
class Names:
    """Of the children, without their path, in no particular order."""

    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Present:
    stat: Stat


@dataclass(frozen=True, slots=True)
class Done:
    """A write came to pass. `version` is that of the znode now; 0 for one that was created or deleted."""

    version: int = 0


@dataclass(frozen=True, slots=True)
class Created(Done):
    """`path` with the number that ZooKeeper added, if it was created in sequence; `stat` only of an ephemeral one."""

    path: str = ""
    stat: Stat = Stat(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such znode, or no parent for the one to be created."""


@dataclass(frozen=True, slots=True)
class NodeExists:
    pass


@dataclass(frozen=True, slots=True)
class BadVersion:
    pass


@dataclass(frozen=True, slots=True)
class NotEmpty:
    pass


Outcome = Found | Names | Present | Done | Absent | NodeExists | BadVersion | NotEmpty


T = TypeVar("T")
Steps = Generator[Sequence[Operation], Sequence[Outcome], T]


def run(operations: Sequence[Operation]) -> Steps[Sequence[Outcome]]:
    """A batch that may be empty; what a core yields itself never is."""
    return (yield operations) if operations else ()


def read(path: str, *, watch: bool = False) -> Steps[Found | Absent]:
    """One Get."""
    [outcome] = yield [Get(path, watch)]
    assert isinstance(outcome, Found | Absent)
    return outcome


def names(path: str, *, watch: bool = False) -> Steps[list[str]]:
    """The sorted names of the children; none where the znode itself is absent."""
    [outcome] = yield [Children(path, watch)]
    assert isinstance(outcome, Names | Absent)
    return sorted(outcome.names) if isinstance(outcome, Names) else []
