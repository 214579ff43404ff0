"""A node finds a directory of another cluster."""

from __future__ import annotations

import random
from typing import Annotated, ClassVar

from pydantic import Field

from fencepost.faults.capabilities import Cluster
from fencepost.faults.generation import BreakableCluster, GeneratedFault, one_broker
from fencepost.faults.identity.misconfigured import MisconfiguredFault, generated_exclusive
from fencepost.faults.parameters import FaultParameters, NodeRef


class ForeignClusterParameters(FaultParameters):
    """SIGKILL, the cluster id `id` in the node's directories, and a start. Healed by its own cluster id."""

    node: NodeRef
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")] = "f0reignClusterId0000AA"


class ForeignCluster(MisconfiguredFault):
    """The cluster id in a node's directories is changed to another cluster's before it starts again.

    Models a volume that was mounted into the wrong cluster, and addresses that lead to another cluster than they did.
    Does not model records of another cluster: all but the id is its own. Healed by its own id, and a start.

    `proven` by the cluster id in `meta.properties`, in which every release keeps it; without one there it is an error.
    """

    name: ClassVar[str] = "foreign-cluster"
    phrase = "the directories of {node} are given the id of another cluster"
    Parameters = ForeignClusterParameters
    weight = 1

    def __init__(self, cluster: Cluster, parameters: ForeignClusterParameters) -> None:
        super().__init__(cluster, (parameters.node,))
        self.node = parameters.node
        self.id = parameters.id
        self.own: str | None = None

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim = one_broker(rng, cluster)
        parameters = ForeignClusterParameters(node=aim.text)
        return generated_exclusive(parameters, aim, f"{aim.text} belongs to another cluster")

    def set_up(self) -> None:
        super().set_up()
        self.own = self.cluster.directories.claim(self.node).stored_cluster

    def misconfigure(self) -> None:
        self.cluster.directories.set_stored_cluster(self.node, self.id)

    def correct(self) -> None:
        if self.own is not None:
            self.cluster.directories.set_stored_cluster(self.node, self.own)

    def is_misconfigured(self) -> bool:
        return self.cluster.directories.claim(self.node).stored_cluster != self.own
