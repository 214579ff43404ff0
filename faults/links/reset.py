"""Links end every connection."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import BOTH, Cluster, Harm
from fencepost.faults.generation import BreakableCluster, GeneratedFault, text_of
from fencepost.faults.links.link_fault import Effect, LinkFault, harmed, pairs
from fencepost.faults.links.link_generation import generated, opened_links
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in


class ResetParameters(FaultParameters):
    """Links from `from` to `to`: open connections end, new ones are taken and then reset."""

    from_: NodeRefs
    to: NodeRefs


class LinkReset(LinkFault):
    """Connections that `from` opened to `to` end in an orderly way, and new ones are accepted and then reset.

    Models a load balancer or firewall that takes connections and throws them away: connecting succeeds, in contrast to
    `cut`, so a check that only connects takes it for healthy. Idle connections end as well. Does not model RST on
    connections that were open, which Toxiproxy ends by FIN. Both are measured: the first at a connection that was open
    before and idle. Bytes under way are lost.
    Source: Toxiproxy, `reset_peer` at once on both streams, and `timeout` of 1 ms.
    """

    name: ClassVar[str] = "reset"
    phrase = "connections from {from} to {to} are reset"
    idle: ClassVar[bool] = True
    Parameters = ResetParameters
    weight = 2

    def __init__(self, cluster: Cluster, parameters: ResetParameters) -> None:
        super().__init__(cluster)
        links = pairs(names_in(parameters.from_), names_in(parameters.to))
        self.effects = tuple(Effect(*pair, harmed(Harm.RESET, BOTH)) for pair in links)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim, other, links = opened_links(rng, cluster)
        parameters = ResetParameters(from_=aim.refs, to=other)
        return generated(parameters, aim, links, f"reset {aim.text} to {text_of(other)}")
