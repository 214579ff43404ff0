"""Bytes stop flowing on links, and nobody is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Cluster, Harm
from faults.links.holding import STREAMS, harmed
from faults.links.link_fault import Effect, LinkFault, pairs


class LinkStall(LinkFault):
    """Connections that `from` opens to `to` stay up; requests, replies or both wait in the link.

    Models a network that drops packets for a while: nobody sees an error, and what TCP had taken arrives after
    healing, even from a sender that died meanwhile. Does not model a connection that gives up (TCP's own timeouts), nor
    loss of single packets. Connections that `to` opens to `from` are other links.
    Source: Toxiproxy, `bandwidth` at rate 0 on each stream.
    """

    name: ClassVar[str] = "stall"

    def __init__(self, cluster: Cluster, *, from_: Sequence[str], to: Sequence[str], streams: str = "both") -> None:
        super().__init__(cluster)
        self.effects = tuple(Effect(*pair, harmed(Harm.STALL, STREAMS[streams])) for pair in pairs(from_, to))
