"""What a node finds on disk at its next start, and what it claims to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Claim:
    """Who a node takes itself for: by its configuration, and by what its directories say (None: nothing)."""

    configured_id: int
    stored_id: int | None
    stored_cluster: str | None


@dataclass(frozen=True)
class Contents:
    """What is in the log directories of a node. Read from the files, whether it runs or not."""

    partitions: frozenset[str]
    """`t-0`: those that have a folder."""
    bytes: int
    """Of all segments together."""
    digest: str
    """Of the names and bytes of all segments and of who they belong to: alike if and only if these are."""

    def as_json(self) -> Mapping[str, object]:
        return {"partitions": sorted(self.partitions), "bytes": self.bytes, "digest": self.digest[:16]}


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
        """What is in a copy. CapabilityError if there is none of that name."""

    def put_back(self, node: str, name: str) -> None:
        """Put all aside, and the copy in its place. The copy is kept."""

    def swap(self, one: str, other: str) -> None:
        """Exchange the directories of two nodes, with all that is in them."""

    def claim(self, node: str) -> Claim: ...

    def set_stored_cluster(self, node: str, cluster: str) -> None:
        """Let each of its directories say that it belongs to this cluster."""

    def set_configured_id(self, node: str, id: int) -> None:
        """From its next start on its configuration has this id."""

    def unused_id(self) -> int:
        """An id that no node of the cluster has."""
