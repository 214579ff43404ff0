"""Bytes vanish on links, and nobody is told until it is over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Cluster, Harm
from faults.links.holding import STREAMS, harmed
from faults.links.link_fault import Effect, LinkFault, pairs


class LinkBlackhole(LinkFault):
    """Requests, replies or both on connections that `from` opens to `to` are dropped; healing closes the connections.

    Models a router or firewall that forgot the connection: what was sent is gone for good, in contrast to `stall`, and
    whoever waits for an answer learns at the end that none will come. Does not model TCP, which would send the bytes
    again and deliver them after a short loss; nor loss of single packets. That the connection was closed by healing is
    measured at one that was open before. Connections that `to` opens to `from` are other links.
    Source: Toxiproxy, `timeout` of 0 on each stream.
    """

    name: ClassVar[str] = "blackhole"

    def __init__(self, cluster: Cluster, *, from_: Sequence[str], to: Sequence[str], streams: str = "both") -> None:
        super().__init__(cluster)
        self.effects = tuple(Effect(*pair, harmed(Harm.BLACKHOLE, STREAMS[streams])) for pair in pairs(from_, to))
