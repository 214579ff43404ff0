"""The base of the faults that silence streams of links: bytes wait or are lost, and no side gets an error."""

from __future__ import annotations

import random
from typing import ClassVar

from fencepost.faults.capabilities import Cluster, Harm
from fencepost.faults.generation import BreakableCluster, GeneratedFault, text_of
from fencepost.faults.links.link_fault import STREAMS, Effect, LinkFault, StreamChoice, harmed, pairs
from fencepost.faults.links.link_generation import STREAMS as RANDOM_STREAMS
from fencepost.faults.links.link_generation import generated, opened_links, silences_brokers
from fencepost.faults.parameters import FaultParameters, NodeRefs, names_in


class StreamParameters(FaultParameters):
    from_: NodeRefs
    to: NodeRefs
    streams: StreamChoice = "both"


class StreamFault(LinkFault):
    Parameters: ClassVar[type[StreamParameters]]
    harm: ClassVar[Harm]
    summary: ClassVar[str]
    """The line of a random plan that has it, with `{aim}` and `{to}`."""

    def __init__(self, cluster: Cluster, parameters: StreamParameters) -> None:
        super().__init__(cluster)
        wanted = harmed(self.harm, STREAMS[parameters.streams])
        links = pairs(names_in(parameters.from_), names_in(parameters.to))
        self.effects = tuple(Effect(*pair, wanted) for pair in links)

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault:
        aim, other, links = opened_links(rng, cluster)
        streams = rng.choice(RANDOM_STREAMS)
        return generated(
            cls.Parameters(from_=aim.refs, to=other, streams=streams),
            aim,
            links,
            cls.summary.format(aim=aim.text, to=text_of(other)),
            others_go_on=silences_brokers(links, cluster),
        )
