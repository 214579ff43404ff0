"""Two groups of nodes lose each other."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from fencepost.faults.capabilities import Cluster
from fencepost.faults.generation import (
    LINKS_AMONG_BROKERS,
    LINKS_AMONG_QUORUM,
    LINKS_TO_QUORUM,
    BreakableCluster,
    GeneratedFault,
    one_broker,
    text_of,
)
from fencepost.faults.links.link_fault import Effect, LinkFault, Separation, between, separated
from fencepost.faults.links.link_generation import BETWEEN_NODES, SEPARATIONS, generated, two_groups
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in


class IsolateParameters(FaultParameters):
    """`nodes` and `from` cannot talk, whichever side opens the connection."""

    nodes: NodeRefs
    from_: NodeRefs
    how: Separation = "cut"


class Isolate(LinkFault):
    """`nodes` and `from` cannot talk, whichever side opens the connection: both links of each pair.

    Models a partition that rejects (`how="cut"`), that holds bytes back (`how="stall"`) or that swallows them
    (`how="blackhole"`). Members of a group still reach each other, and clients reach all nodes unless their site is
    named; a node in both groups is on the side of `nodes`.
    Does not model a partition in one direction (`one-way`); nor, unless it cuts, silence for a connection that is
    opened while its destination is down (`stall`).
    Source: Toxiproxy, as in `cut`, `stall` and `blackhole`.
    """

    name: ClassVar[str] = "isolate"
    phrase = "{nodes} are isolated from {from}"
    Parameters = IsolateParameters
    weight = 5
    left_out: ClassVar[Mapping[str, str]] = BETWEEN_NODES

    def __init__(self, cluster: Cluster, parameters: IsolateParameters) -> None:
        super().__init__(cluster)
        nodes = names_in(parameters.nodes)
        others = [node for node in names_in(parameters.from_) if node not in nodes]
        self.effects = tuple(Effect(*pair, separated(parameters.how)) for pair in between(nodes, others))

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        """Isolates a broker from all other nodes, or one group from another."""
        how = rng.choice(SEPARATIONS)
        if rng.random() < 0.4:
            aim = one_broker(rng, cluster)
            parameters = IsolateParameters(nodes=aim.refs, from_=("brokers", cluster.quorum_role), how=how)
            title = f"{aim.text} apart from all other nodes ({how})"
            fault = generated(parameters, aim, LINKS_AMONG_BROKERS, title, holds_bytes=how != "cut")
            return replace(
                fault,
                resources=(LINKS_AMONG_BROKERS, LINKS_TO_QUORUM),
                others_go_on=cluster.unheard_broker_stops_serving,
            )
        aim, other, links = two_groups(rng, cluster)
        return generated(
            IsolateParameters(nodes=aim.refs, from_=other, how=how),
            aim,
            links,
            f"{aim.text} apart from {text_of(other)} ({how})",
            holds_bytes=how != "cut",
            others_go_on=links == LINKS_AMONG_QUORUM,
        )
