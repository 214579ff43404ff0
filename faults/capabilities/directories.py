"""The contents of a node's disk at its next start, and the identity that it claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


@dataclass(frozen=True)
class Claim:
    """The identity that a node claims, by its configuration and by its directories (None: they claim nothing)."""

    configured_id: int
    stored_id: int | None
    stored_cluster: str | None


@dataclass(frozen=True)
class Contents:
    """The contents of a node's log directories. Read from the files, whether it runs or not."""

    partitions: frozenset[str]
    """`t-0`: those of which a segment is there. What a node needs before its first start is in none."""
    bytes: int
    """The size of all segments together."""
    digest: str
    """A digest of the names and bytes of all segments and of the identity: equal if and only if these are."""

    def as_json(self) -> Mapping[str, object]:
        return {"partitions": sorted(self.partitions), "bytes": self.bytes, "digest": self.digest[:16]}


class Damage(Enum):
    """The state in which files are found at the next start of their node."""

    LOST = "lost"
    CUT = "cut"
    """The first half of each is there."""
    GARBAGE = "garbage"
    """As long as they were, and every bit is set."""
    OLDER = "older"
    """As an earlier copy has them; those that it has not are lost."""


class Directories(Protocol):
    """Change what is on disk of nodes whose processes are down; CapabilityError for one that runs.

    Nothing is deleted: what has to go is put aside, in the folder of the node. Of ZooKeeper servers none of it works.
    """

    def contents(self, node: str) -> Contents: ...

    def empty(self, node: str) -> None:
        """Put all aside, and leave what a new node has before its first start."""

    def copy(self, node: str, name: str) -> Contents:
        """Keep a copy of all directories, of a node that is paused or down: nothing changes while it is made.

        So it is what a kill -9 at that instant would have left: written is what was handed to the kernel.
        """

    def copied(self, node: str, name: str) -> Contents:
        """Return the contents of a copy. Raise CapabilityError if there is none of that name."""

    def put_back(self, node: str, name: str) -> None:
        """Put all aside, and the copy in its place. The copy is kept."""

    def swap(self, one: str, other: str) -> None:
        """Exchange the directories of two nodes, with all that is in them."""

    def files(self, node: str, pattern: str) -> Mapping[str, str]:
        """Return size and digest of each file that matches, by its path: `data/t-0/partition.metadata`.

        `pattern` matches paths in a log directory, their last part, or the folder that they are in (`t-0`).
        """

    def damage(self, node: str, pattern: str, damage: Damage, copy: str | None = None) -> None:
        """Damage all files that match; `copy` has those that are older."""

    def repair(self, node: str) -> None:
        """Put back all files of the node that were damaged, as they were before."""

    def claim(self, node: str) -> Claim: ...

    def set_stored_cluster(self, node: str, cluster: str) -> None:
        """Let each of its directories say that it belongs to this cluster."""

    def set_configured_id(self, node: str, id: int) -> None:
        """From its next start on its configuration has this id."""

    def unused_id(self) -> int:
        """An id that no node of the cluster has."""
