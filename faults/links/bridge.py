"""Two halves of a cluster lose each other, and share one node that reaches both."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import ClassVar

from fencepost.faults.capabilities import Cluster
from fencepost.faults.generation import (
    LINKS_AMONG_BROKERS,
    LINKS_AMONG_QUORUM,
    Aim,
    BreakableCluster,
    GeneratedFault,
    text_of,
)
from fencepost.faults.links.link_fault import Effect, LinkFault, Separation, between, separated
from fencepost.faults.links.link_generation import BETWEEN_NODES, SEPARATIONS, generated
from fencepost.faults.parameters import FaultParameters, NodeRef, NodeRefs, names_in


class BridgeParameters(FaultParameters):
    """`nodes` and `from` cannot talk, whichever side opens the connection; `over` reaches both."""

    nodes: NodeRefs
    from_: NodeRefs
    over: NodeRef
    how: Separation = "cut"

    one_node: ClassVar[tuple[str, ...]] = ("over",)


class Bridge(LinkFault):
    """`nodes` and `from` cannot talk, whichever side opens the connection; `over` reaches every node of both.

    Models a partition that is not transitive: a node with a leg in each of two networks, as the bridge of Jepsen's
    nemeses. Each half may hold that `over` is on its side. `over` may stand in either group, or in none. Clients reach
    all nodes unless their site is named. `how`: as in `isolate`. Does not model a node that forwards for others.
    Source: Toxiproxy, as in `isolate`.
    """

    name: ClassVar[str] = "bridge"
    phrase = "{nodes} are separated from {from}, and joined only by {over}"
    Parameters = BridgeParameters
    weight = 2
    left_out: ClassVar[Mapping[str, str]] = BETWEEN_NODES

    def __init__(self, cluster: Cluster, parameters: BridgeParameters) -> None:
        super().__init__(cluster)
        self.over = parameters.over
        half = [node for node in names_in(parameters.nodes) if node != self.over]
        other = [node for node in names_in(parameters.from_) if node != self.over and node not in half]
        self.effects = tuple(Effect(*pair, separated(parameters.how)) for pair in between(half, other))

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        """Separates two nodes, of the brokers or of the quorum, and leaves one that both reach."""
        side, links, names = rng.choice(
            (
                ("brokers", LINKS_AMONG_BROKERS, cluster.brokers),
                ("quorum", LINKS_AMONG_QUORUM, cluster.quorum),
            )
        )
        if len(names) < 3:
            return None
        over, *rest = rng.sample(names, len(names))
        half = max(1, len(rest) // 2)
        one, other = tuple(sorted(rest[:half])), tuple(sorted(rest[half:]))
        how = rng.choice(SEPARATIONS)
        return generated(
            BridgeParameters(nodes=one, from_=other, over=over, how=how),
            Aim(one, len(one), side, one),
            links,
            f"{text_of(one)} and {text_of(other)} apart but for {over} ({how})",
            holds_bytes=how != "cut",
        )

    def targets(self) -> dict[str, object]:
        return {**super().targets(), "over": self.over}
