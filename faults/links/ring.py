"""Each node reaches only its neighbours."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import combinations
from typing import ClassVar

from fencepost.faults.capabilities import CapabilityError, Cluster
from fencepost.faults.generation import LINKS_AMONG_BROKERS, Aim, BreakableCluster, GeneratedFault
from fencepost.faults.links.link_fault import Effect, LinkFault, Separation, between, separated
from fencepost.faults.links.link_generation import BETWEEN_NODES, SEPARATIONS, generated
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in

FEWEST = 4
"""Nodes of a ring: of three each has both others for neighbours."""


class RingParameters(FaultParameters):
    """Each of `nodes` reaches only the one before and the one after it, in this order."""

    nodes: NodeRefs
    how: Separation = "cut"


class Ring(LinkFault):
    """Each of `nodes` reaches only the one before and the one after it; the last and the first are neighbours.

    Models a network in which every node sees a majority and no two see the same one, as the majorities ring of Jepsen's
    nemeses, for rings of four and five; in longer ones no node sees a majority. Links to nodes that are not named stay
    as they are, those of clients too. `how`: as in `isolate`. Does not model nodes that forward for others.
    Source: Toxiproxy, as in `isolate`.
    """

    name: ClassVar[str] = "ring"
    phrase = "{nodes} are connected in a ring only"
    Parameters = RingParameters
    weight = 2
    left_out: ClassVar[Mapping[str, str]] = BETWEEN_NODES

    def __init__(self, cluster: Cluster, parameters: RingParameters) -> None:
        super().__init__(cluster)
        self.ring = tuple(dict.fromkeys(names_in(parameters.nodes)))
        apart = [
            pair
            for (here, some), (there, other) in combinations(enumerate(self.ring), 2)
            if there - here not in (1, len(self.ring) - 1)
            for pair in between([some], [other])
        ]
        self.effects = tuple(Effect(*pair, separated(parameters.how)) for pair in apart)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        """Separates every broker from at least one other."""
        if len(cluster.brokers) < FEWEST:
            return None
        names, how = tuple(rng.sample(cluster.brokers, len(cluster.brokers))), rng.choice(SEPARATIONS)
        return generated(
            RingParameters(nodes=names, how=how),
            Aim(names, len(names), "brokers", names),
            LINKS_AMONG_BROKERS,
            f"a ring of {', '.join(names)} ({how})",
            holds_bytes=how != "cut",
        )

    def set_up(self) -> None:
        if len(self.ring) < FEWEST:
            raise CapabilityError(
                f"a ring of {', '.join(self.ring) or 'no nodes'} cuts nothing: it takes {FEWEST} nodes for two to be "
                "no neighbours"
            )
        super().set_up()

    def targets(self) -> dict[str, object]:
        return {**super().targets(), "ring": list(self.ring)}
