"""Two nodes find each other's directories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import CapabilityError, Claim, Cluster
from faults.identity.misled import MisledFault


class Swapped(MisledFault):
    """Two nodes exchange their log directories while both are down, and both start again.

    Models volumes that were attached to the wrong hosts. Does not model one of several directories in the wrong place:
    all of a node's go together. Healed by exchanging them back, and a start of both.
    """

    name: ClassVar[str] = "swapped"

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str]) -> None:
        super().__init__(cluster, tuple(nodes))
        self.own: dict[str, Claim] = {}

    def set_up(self) -> None:
        if len(self.names) != 2:
            raise CapabilityError(f"two nodes exchange their directories: {len(self.names)} are named")
        super().set_up()
        self.own = {name: self.cluster.directories.claim(name) for name in self.names}
        one, other = self.own.values()
        if one.stored_id == other.stored_id:
            raise CapabilityError(f"the directories of {' and '.join(self.names)} both say {one.stored_id}")

    def mislead(self) -> None:
        self.cluster.directories.swap(*self.names)

    def put_right(self) -> None:
        self.cluster.directories.swap(*self.names)

    def is_misled(self) -> bool:
        one, other = (self.cluster.directories.claim(name) for name in self.names)
        mine, theirs = (self.own[name] for name in self.names)
        return (one.stored_id, other.stored_id) == (theirs.stored_id, mine.stored_id)
