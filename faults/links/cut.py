"""Links refuse service, and both ends notice at once."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import Cluster
from fencepost.faults.generation import LINKS_OF_CLIENTS, BreakableCluster, GeneratedFault, text_of
from fencepost.faults.links.link_fault import Effect, LinkFault, pairs
from fencepost.faults.links.link_generation import generated, opened_links, silences_brokers
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in


class CutParameters(FaultParameters):
    """Links from `from` to `to`: open connections end, new ones are refused."""

    from_: NodeRefs
    to: NodeRefs


class LinkCut(LinkFault):
    """Connections that `from` opened to `to` end, and new ones are refused. Bytes under way are lost.

    Models a firewall that rejects, or a router that knows the host is gone. Does not model silent loss (`stall`).
    Connections that `to` opens to `from` are other links: see `isolate`. Works on paused nodes.
    Source: Toxiproxy, `enabled: false`.
    """

    name: ClassVar[str] = "cut"
    phrase = "{from} are cut off from {to}"
    Parameters = CutParameters
    weight = 5

    def __init__(self, cluster: Cluster, parameters: CutParameters) -> None:
        super().__init__(cluster)
        self.effects = tuple(Effect(*pair) for pair in pairs(names_in(parameters.from_), names_in(parameters.to)))

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim, other, links = opened_links(rng, cluster)
        turned = rng.random() < 0.2 and links != LINKS_OF_CLIENTS
        source, destination = (other, aim.refs) if turned else (aim.refs, other)
        return generated(
            CutParameters(from_=source, to=destination),
            aim,
            links,
            f"cut {text_of(source)} to {text_of(destination)}",
            holds_bytes=False,
            others_go_on=source == aim.refs and silences_brokers(links, cluster),
        )
