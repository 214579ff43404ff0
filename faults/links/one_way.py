"""Nothing flows from one side to the other; back, everything does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Cluster, Harm, Stream
from faults.links.holding import harmed
from faults.links.link_fault import Effect, LinkFault, pairs


class LinkOneWay(LinkFault):
    """No byte gets from `from` to `to`, whoever opened the connection.

    That is two links for each pair: the requests of what `from` opened to `to`, and the replies to what `to` opened to
    `from`. Models an asymmetric route or a half-dead switch port. Does not model that TCP's acknowledgements are lost
    with the data, so senders notice later than they might in the field.
    Source: Toxiproxy, `bandwidth` at rate 0 on one stream of each link.
    """

    name: ClassVar[str] = "one-way"

    def __init__(self, cluster: Cluster, *, from_: Sequence[str], to: Sequence[str]) -> None:
        super().__init__(cluster)
        self.effects = tuple(
            effect for source, destination in pairs(from_, to) for effect in _effects(source, destination)
        )


def _effects(source: str, destination: str) -> list[Effect]:
    requests = Effect(source, destination, harmed(Harm.STALL, {Stream.REQUESTS}))
    if source.startswith("site:"):
        return [requests]
    if destination.startswith("site:"):
        return [Effect(destination, source, harmed(Harm.STALL, {Stream.REPLIES}))]
    return [requests, Effect(destination, source, harmed(Harm.STALL, {Stream.REPLIES}))]
