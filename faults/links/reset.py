"""Links end every connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import BOTH, Cluster, Harm
from faults.links.holding import harmed
from faults.links.link_fault import Effect, LinkFault, pairs


class LinkReset(LinkFault):
    """Connections that `from` opened to `to` end in an orderly way, and new ones are accepted and then reset.

    Models a load balancer or firewall that takes connections and throws them away: connecting succeeds, in contrast to
    `cut`, so whoever takes that for health is misled. Does not model RST on connections that were open, which Toxiproxy
    ends by FIN. Both are measured: the first at a connection that was open before. Bytes under way are lost.
    Source: Toxiproxy, `reset_peer` at once on both streams.
    """

    name: ClassVar[str] = "reset"

    def __init__(self, cluster: Cluster, *, from_: Sequence[str], to: Sequence[str]) -> None:
        super().__init__(cluster)
        self.effects = tuple(Effect(*pair, harmed(Harm.RESET, BOTH)) for pair in pairs(from_, to))
