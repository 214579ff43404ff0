"""Nothing flows from one side to the other; back, everything does."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import ClassVar, Literal

from fencepost.faults.capabilities import Cluster, Harm, Stream
from fencepost.faults.generation import BreakableCluster, GeneratedFault, text_of
from fencepost.faults.links.link_fault import Effect, LinkFault, Pair, harmed, pairs
from fencepost.faults.links.link_generation import BETWEEN_NODES, generated, links_between
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in

OneWay = Literal["stall", "blackhole"]
METHODS: tuple[OneWay, ...] = ("stall", "stall", "blackhole")


class OneWayParameters(FaultParameters):
    """Nothing flows from `from` to `to`, whichever side opened the connection; everything flows the other way."""

    from_: NodeRefs
    to: NodeRefs
    how: OneWay = "stall"


class LinkOneWay(LinkFault):
    """No byte gets from `from` to `to`, whichever side opened the connection.

    That is two links for each pair: the requests of what `from` opened to `to`, and the replies to what `to` opened to
    `from`. Between two nodes of both groups nothing flows either way.
    Models an asymmetric route or a half-dead switch port: bytes wait until it is healed (`how="stall"`), or are lost
    and the connections with them when it is (`how="blackhole"`). The end of a connection is held as bytes are, on its
    way from `from` to `to`. Does not model that TCP's acknowledgements are lost with the data, so senders notice later
    than they might in the field; nor silence for a connection that is opened while its destination is down.
    There is no one-way cut: the end of a connection is seen at both of its ends. What comes nearest is a `cut` from A
    to B, after which A cannot connect to B, and B to A can.
    Source: Toxiproxy, as in `stall` and `blackhole`, on one stream of each link.
    """

    name: ClassVar[str] = "one-way"
    phrase = "all bytes from {from} to {to} are stopped"
    Parameters = OneWayParameters
    weight = 4
    left_out: ClassVar[Mapping[str, str]] = BETWEEN_NODES

    def __init__(self, cluster: Cluster, parameters: OneWayParameters) -> None:
        super().__init__(cluster)
        streams: dict[Pair, set[Stream]] = {}
        for source, destination in pairs(names_in(parameters.from_), names_in(parameters.to)):
            for pair, stream in _silenced(source, destination):
                streams.setdefault(pair, set()).add(stream)
        harm = Harm(parameters.how)
        self.effects = tuple(Effect(*pair, harmed(harm, silent)) for pair, silent in streams.items())

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim, other, links = links_between(rng, cluster)
        source, destination = (aim.refs, other) if rng.random() < 0.5 else (other, aim.refs)
        parameters = OneWayParameters(from_=source, to=destination, how=rng.choice(METHODS))
        return generated(parameters, aim, links, f"nothing flows from {text_of(source)} to {text_of(destination)}")


def _silenced(source: str, destination: str) -> list[tuple[Pair, Stream]]:
    """Return the streams in which bytes flow from one to the other. No connection is opened to a client."""
    requests = ((source, destination), Stream.REQUESTS)
    if source.startswith("site:"):
        return [requests]
    replies = ((destination, source), Stream.REPLIES)
    return [replies] if destination.startswith("site:") else [requests, replies]
