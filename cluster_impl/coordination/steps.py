"""The operations that a core requests of ZooKeeper, and their outcomes: the interface between decisions and I/O.

A core is a generator. It yields a batch of operations and is sent their outcomes, one for each, in the same order:

    [found] = yield [Get("/controller_epoch")]

So it does no I/O, and a unit test runs it over a tree in memory. A driver executes the operations of a batch, which is
never empty, in their order. The driver decides how many of them travel together, so no core relies on a batch being
atomic. Each write has an outcome:

    Create      Done, NodeExists, or Absent if there is no parent; Created for an ephemeral or sequential znode
    SetData     Done, BadVersion, Absent
    Delete      Done, BadVersion, Absent, or NotEmpty if the znode has children

When the right to write is lost (with the session, or because a driver checks an epoch with each write), the core is
never resumed but closed. A core that owes an answer gives it in `finally`.

A write whose fate is unknown (the connection broke) is executed again. Its outcome may then be BadVersion, NodeExists
or Absent although this write succeeded the first time; cores read again in such a case and compare. A sequential znode
may be created twice.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fencepost.cluster_impl.coordination.znodes import ANY_VERSION, Create, Delete, SetData, Stat, Write

__all__ = [  # the vocabulary of writes is part of this interface
    "ANY_VERSION", "Absent", "BadVersion", "Children", "Create", "Created", "Delete", "Done", "Exists", "Found", "Get",
    "Names", "NodeExists", "NotEmpty", "Operation", "Outcome", "Present", "Read", "SetData", "Stat", "Steps", "Write",
    "names", "read", "run",
]  # fmt: skip

_NO_STAT = Stat(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Get:
    """Read the data of a znode: Found or Absent. `watch` reports the next change or deletion of a found znode."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Children:
    """Read the names of the children: Names or Absent. `watch` reports the next child that is created or deleted."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """Read the stat of a znode: Present or Absent. `watch` reports its next creation, change or deletion."""

    path: str
    watch: bool = False


Read = Get | Children | Exists
Operation = Read | Write


@dataclass(frozen=True, slots=True)
class Found:
    data: bytes
    stat: Stat


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the children, without their path, in no particular order."""

    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Present:
    stat: Stat


@dataclass(frozen=True, slots=True)
class Done:
    """A write succeeded. `version` is the version of the znode now; 0 for one that was created or deleted."""

    version: int = 0


@dataclass(frozen=True, slots=True)
class Created(Done):
    """`path` includes the number that ZooKeeper appends in sequence; `stat` is set for an ephemeral znode only."""

    path: str = ""
    stat: Stat = _NO_STAT


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such znode, or no parent for the znode to be created."""


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
    """Yield a batch that may be empty; a batch that a core yields itself never is."""
    return (yield operations) if operations else ()


def read(path: str, *, watch: bool = False) -> Steps[Found | Absent]:
    """Read the data of one znode."""
    [outcome] = yield [Get(path, watch)]
    assert isinstance(outcome, Found | Absent)
    return outcome


def names(path: str, *, watch: bool = False) -> Steps[list[str]]:
    """Return the sorted names of the children; none if the znode itself is absent."""
    [outcome] = yield [Children(path, watch)]
    assert isinstance(outcome, Names | Absent)
    return sorted(outcome.names) if isinstance(outcome, Names) else []
