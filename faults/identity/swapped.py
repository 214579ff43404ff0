"""Two nodes find each other's directories."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import ClassVar

from fencepost.faults.capabilities import CapabilityError, Claim, Cluster
from fencepost.faults.generation import Aim, BreakableCluster, GeneratedFault
from fencepost.faults.identity.misconfigured import MisconfiguredFault, generated_exclusive
from fencepost.faults.parameters import FaultParameters, NodeRefs, PlannedNode, names_in


class SwappedParameters(FaultParameters):
    """Two nodes are killed, exchange their log directories, and start again. Healed by changing them back."""

    nodes: NodeRefs

    def problems(self, nodes: Iterable[PlannedNode], backups: Iterable[str]) -> Iterator[tuple[str, str]]:
        if isinstance(self.nodes, tuple) and len(self.nodes) != 2:
            yield "nodes", f"two nodes exchange their directories, but {len(self.nodes)} are named"


class Swapped(MisconfiguredFault):
    """Two nodes exchange their log directories while both are down, and both start again.

    Models volumes that were attached to the wrong hosts. Does not model one of several directories in the wrong place:
    all of a node's go together. Healed by exchanging them back, and a start of both.

    `proven` by the node id in `meta.properties`, in which every release keeps it: each has that of the other.
    """

    name: ClassVar[str] = "swapped"
    phrase = "the log directories of {nodes} are exchanged"
    Parameters = SwappedParameters
    weight = 1

    def __init__(self, cluster: Cluster, parameters: SwappedParameters) -> None:
        super().__init__(cluster, names_in(parameters.nodes))
        self.own: dict[str, Claim] = {}

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        names = tuple(sorted(rng.sample(cluster.brokers, 2)))
        aim = Aim(names, 2, "brokers", names)
        return generated_exclusive(SwappedParameters(nodes=names), aim, f"{aim.text} have each other's directory")

    def set_up(self) -> None:
        if len(self.names) != 2:
            raise CapabilityError(f"two nodes exchange their directories: {len(self.names)} are named")
        super().set_up()
        self.own = {name: self.cluster.directories.claim(name) for name in self.names}
        one, other = self.own.values()
        if one.stored_id == other.stored_id:
            raise CapabilityError(f"the directories of {' and '.join(self.names)} both say {one.stored_id}")

    def misconfigure(self) -> None:
        self.cluster.directories.swap(*self.names)

    def correct(self) -> None:
        self.cluster.directories.swap(*self.names)

    def is_misconfigured(self) -> bool:
        one, other = (self.cluster.directories.claim(name) for name in self.names)
        mine, theirs = (self.own[name] for name in self.names)
        return (one.stored_id, other.stored_id) == (theirs.stored_id, mine.stored_id)
