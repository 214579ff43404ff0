"""Bytes stop flowing on links, and no side gets an error."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import Cluster, Harm
from fencepost.faults.generation import BreakableCluster, GeneratedFault, text_of
from fencepost.faults.links import link_generation
from fencepost.faults.links.link_fault import STREAMS, Effect, LinkFault, StreamChoice, harmed, pairs
from fencepost.faults.links.link_generation import generated, opened_links, silences_brokers
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in


class StallParameters(FaultParameters):
    """Links from `from` to `to`: bytes wait, and arrive after healing."""

    from_: NodeRefs
    to: NodeRefs
    streams: StreamChoice = "both"


class LinkStall(LinkFault):
    """Connections that `from` opens to `to` stay up; requests, replies or both wait in the link.

    Models a network that drops packets for a while: no side sees an error, though the other one dies, and what TCP had
    taken arrives after healing, even from a sender that died meanwhile. Does not model a connection that gives up
    (TCP's own timeouts); nor loss of single packets; nor silence for a connection that is opened while `to` is down: it
    is closed at once. That no connection ended before healing is measured at one that was open before. Connections that
    `to` opens to `from` are other links.
    Source: Toxiproxy, `bandwidth` at rate 0 on each stream, and `slow_close`.
    """

    name: ClassVar[str] = "stall"
    phrase = "the {streams} of connections from {from} to {to} are held back"
    Parameters = StallParameters
    weight = 5

    def __init__(self, cluster: Cluster, parameters: StallParameters) -> None:
        super().__init__(cluster)
        wanted = harmed(Harm.STALL, STREAMS[parameters.streams])
        links = pairs(names_in(parameters.from_), names_in(parameters.to))
        self.effects = tuple(Effect(*pair, wanted) for pair in links)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim, other, links = opened_links(rng, cluster)
        streams = rng.choice(link_generation.STREAMS)
        return generated(
            StallParameters(from_=aim.refs, to=other, streams=streams),
            aim,
            links,
            f"stall {aim.text} to {text_of(other)}",
            others_go_on=silences_brokers(links, cluster),
        )
