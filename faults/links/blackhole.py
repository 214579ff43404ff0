"""Bytes vanish on links, and no side gets an error until it is over."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import Cluster, Harm
from fencepost.faults.generation import BreakableCluster, GeneratedFault, text_of
from fencepost.faults.links import link_generation
from fencepost.faults.links.link_fault import STREAMS, Effect, LinkFault, StreamChoice, harmed, pairs
from fencepost.faults.links.link_generation import generated, opened_links, silences_brokers
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in


class BlackholeParameters(FaultParameters):
    """Links from `from` to `to`: bytes are lost, and healing ends the connections."""

    from_: NodeRefs
    to: NodeRefs
    streams: StreamChoice = "both"


class LinkBlackhole(LinkFault):
    """Requests, replies or both on connections that `from` opens to `to` are dropped; healing closes the connections.

    Models a router or firewall that forgot the connection: what was sent is gone for good, in contrast to `stall`, and
    a client that waits for an answer learns at the end that none will come, even if the other side died long before.
    Does not model TCP, which would send the bytes again and deliver them after a short loss; nor loss of single
    packets; nor silence for a connection that is opened while `to` is down: it is closed at once. That no connection
    ended before, and that healing closed it, is measured at one that was open before. Connections that `to` opens to
    `from` are other links.
    Source: Toxiproxy, `timeout` of 0 on each stream, and `slow_close`.
    """

    name: ClassVar[str] = "blackhole"
    phrase = "the {streams} of connections from {from} to {to} are dropped"
    Parameters = BlackholeParameters
    weight = 3

    def __init__(self, cluster: Cluster, parameters: BlackholeParameters) -> None:
        super().__init__(cluster)
        wanted = harmed(Harm.BLACKHOLE, STREAMS[parameters.streams])
        links = pairs(names_in(parameters.from_), names_in(parameters.to))
        self.effects = tuple(Effect(*pair, wanted) for pair in links)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim, other, links = opened_links(rng, cluster)
        streams = rng.choice(link_generation.STREAMS)
        return generated(
            BlackholeParameters(from_=aim.refs, to=other, streams=streams),
            aim,
            links,
            f"bytes from {aim.text} to {text_of(other)} are lost",
            others_go_on=silences_brokers(links, cluster),
        )
