"""Each node reaches only its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

from faults.capabilities import CapabilityError, Cluster
from faults.links.holding import separated
from faults.links.link_fault import Effect, LinkFault, between

FEWEST = 4
"""Nodes of a ring: of three each has both others for neighbours."""


class Ring(LinkFault):
    """Of `nodes`, in their order, each reaches the one before and the one after it, the last and the first included.

    Models a network in which every node sees a majority and no two see the same one, as the majorities ring of Jepsen's
    nemeses, for rings of four and five; in longer ones no node sees a majority. Links to nodes that are not named stay
    as they are, those of clients too. `how`: as in `isolate`. Does not model nodes that forward for others.
    Source: Toxiproxy, as in `isolate`.
    """

    name: ClassVar[str] = "ring"

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str], how: str = "cut") -> None:
        super().__init__(cluster)
        self.ring = tuple(dict.fromkeys(nodes))
        apart = [
            pair
            for (here, some), (there, other) in combinations(enumerate(self.ring), 2)
            if there - here not in (1, len(self.ring) - 1)
            for pair in between([some], [other])
        ]
        self.effects = tuple(Effect(*pair, separated(how)) for pair in apart)

    def set_up(self) -> None:
        if len(self.ring) < FEWEST:
            raise CapabilityError(
                f"a ring of {', '.join(self.ring) or 'no nodes'} cuts nothing: it takes {FEWEST} nodes for two to be "
                "no neighbours"
            )
        super().set_up()

    def targets(self) -> dict[str, object]:
        return {**super().targets(), "ring": list(self.ring)}
