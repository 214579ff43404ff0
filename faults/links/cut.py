"""Links refuse service, and both ends notice at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Cluster
from faults.links.link_fault import Effect, LinkFault, pairs


class LinkCut(LinkFault):
    """Connections that `from` opened to `to` end, and new ones are refused. Bytes under way are lost.

    Models a firewall that rejects, or a router that knows the host is gone. Does not model silent loss (`stall`).
    Connections that `to` opens to `from` are other links: see `isolate`. Works on paused nodes.
    Source: Toxiproxy, `enabled: false`.
    """

    name: ClassVar[str] = "cut"

    def __init__(self, cluster: Cluster, *, from_: Sequence[str], to: Sequence[str]) -> None:
        super().__init__(cluster)
        self.effects = tuple(Effect(*pair) for pair in pairs(from_, to))
