"""A node's configuration gives it another id than the one under which it wrote its directories."""

from __future__ import annotations

from typing import ClassVar

from faults.capabilities import Cluster
from faults.identity.misled import MisledFault


class ChangedId(MisledFault):
    """The id in a node's configuration becomes `id` before it starts again; its directories say the old one.

    Models a template that numbers hosts anew, and a configuration that was copied without its id being changed. `id`
    may be that of another node; without it, it is one that nobody has. Does not model directories that were written
    anew for the new id. Healed by the old id, and a start.
    """

    name: ClassVar[str] = "changed-id"

    def __init__(self, cluster: Cluster, *, node: str, id: int | None = None) -> None:
        super().__init__(cluster, (node,))
        self.node = node
        self.id = id
        self.own: int | None = None

    def set_up(self) -> None:
        super().set_up()
        self.own = self.cluster.directories.claim(self.node).configured_id
        if self.id is None:
            self.id = self.cluster.directories.unused_id()

    def mislead(self) -> None:
        if self.id is not None:
            self.cluster.directories.set_configured_id(self.node, self.id)

    def put_right(self) -> None:
        if self.own is not None:
            self.cluster.directories.set_configured_id(self.node, self.own)

    def is_misled(self) -> bool:
        return self.cluster.directories.claim(self.node).configured_id != self.own
