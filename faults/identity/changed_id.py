"""A node's configuration gives it another id than the one under which it wrote its directories."""

from __future__ import annotations

import random
from typing import Annotated, ClassVar

from pydantic import Field

from fencepost.faults.capabilities import Cluster
from fencepost.faults.generation import BreakableCluster, GeneratedFault, one_broker
from fencepost.faults.identity.misconfigured import MisconfiguredFault, generated_exclusive
from fencepost.faults.parameters import FaultParameters, NodeRef


class ChangedIdParameters(FaultParameters):
    """SIGKILL, an unused or given `id` in the node's configuration, and a start. Healed by its own id."""

    node: NodeRef
    id: Annotated[int, Field(ge=0)] | None = None
    """None: an id that no node has."""


class ChangedId(MisconfiguredFault):
    """The id in a node's configuration becomes `id` before it starts again; its directories say the old one.

    Models a template that numbers hosts anew, and a configuration that was copied without its id being changed. `id`
    may be that of another node; without it, it is one that no node has. Does not model directories that were written
    anew for the new id. Healed by the old id, and a start.

    `proven` by the node's configuration, which the harness wrote.
    """

    name: ClassVar[str] = "changed-id"
    phrase = "{node} are started with the id {id}"
    Parameters = ChangedIdParameters
    weight = 1

    def __init__(self, cluster: Cluster, parameters: ChangedIdParameters) -> None:
        super().__init__(cluster, (parameters.node,))
        self.node = parameters.node
        self.id = parameters.id
        self.own: int | None = None

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim = one_broker(rng, cluster)
        return generated_exclusive(ChangedIdParameters(node=aim.text), aim, f"{aim.text} has an id that no node has")

    def set_up(self) -> None:
        super().set_up()
        self.own = self.cluster.directories.claim(self.node).configured_id
        if self.id is None:
            self.id = self.cluster.directories.unused_id()

    def misconfigure(self) -> None:
        if self.id is not None:
            self.cluster.directories.set_configured_id(self.node, self.id)

    def correct(self) -> None:
        if self.own is not None:
            self.cluster.directories.set_configured_id(self.node, self.own)

    def is_misconfigured(self) -> bool:
        return self.cluster.directories.claim(self.node).configured_id != self.own
