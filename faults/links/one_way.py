"""Nothing flows from one side to the other; back, everything does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Cluster, Harm, Stream
from faults.links.holding import harmed
from faults.links.link_fault import Effect, LinkFault, Pair, pairs


class LinkOneWay(LinkFault):
    """No byte gets from `from` to `to`, whoever opened the connection.

    That is two links for each pair: the requests of what `from` opened to `to`, and the replies to what `to` opened to
    `from`. Between two nodes of both groups nothing flows either way.
    Models an asymmetric route or a half-dead switch port: bytes wait until it is healed (`how="stall"`), or are lost
    and the connections with them when it is (`how="blackhole"`). Does not model that TCP's acknowledgements are lost
    with the data, so senders notice later than they might in the field.
    There is no one-way cut: the end of a connection is seen at both of its ends. What comes nearest is a `cut` from A
    to B, after which A cannot connect to B, and B to A can.
    Source: Toxiproxy, as in `stall` and `blackhole`, on one stream of each link.
    """

    name: ClassVar[str] = "one-way"

    def __init__(self, cluster: Cluster, *, from_: Sequence[str], to: Sequence[str], how: str = "stall") -> None:
        super().__init__(cluster)
        streams: dict[Pair, set[Stream]] = {}
        for source, destination in pairs(from_, to):
            for pair, stream in _silenced(source, destination):
                streams.setdefault(pair, set()).add(stream)
        self.effects = tuple(Effect(*pair, harmed(Harm(how), silent)) for pair, silent in streams.items())


def _silenced(source: str, destination: str) -> list[tuple[Pair, Stream]]:
    """Where bytes from one to the other flow. Nobody opens a connection to a client."""
    requests = ((source, destination), Stream.REQUESTS)
    if source.startswith("site:"):
        return [requests]
    replies = ((destination, source), Stream.REPLIES)
    return [replies] if destination.startswith("site:") else [requests, replies]
