"""A node finds a directory of another cluster."""

from __future__ import annotations

from typing import ClassVar

from faults.capabilities import Cluster
from faults.identity.misled import MisledFault


class ForeignCluster(MisledFault):
    """The cluster id in a node's directories is changed to another cluster's before it starts again.

    Models a volume that was mounted into the wrong cluster, and addresses that lead to another cluster than they did.
    Does not model records of another cluster: all but the id is its own. Healed by its own id, and a start.
    """

    name: ClassVar[str] = "foreign-cluster"

    def __init__(self, cluster: Cluster, *, node: str, id: str = "f0reignClusterId0000AA") -> None:
        super().__init__(cluster, (node,))
        self.node = node
        self.id = id
        self.own: str | None = None

    def set_up(self) -> None:
        super().set_up()
        self.own = self.cluster.directories.claim(self.node).stored_cluster

    def mislead(self) -> None:
        self.cluster.directories.set_stored_cluster(self.node, self.id)

    def put_right(self) -> None:
        if self.own is not None:
            self.cluster.directories.set_stored_cluster(self.node, self.own)

    def is_misled(self) -> bool:
        return self.cluster.directories.claim(self.node).stored_cluster != self.own
