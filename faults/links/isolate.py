"""Two groups of nodes lose each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Cluster
from faults.links.holding import separated
from faults.links.link_fault import Effect, LinkFault, between


class Isolate(LinkFault):
    """`nodes` and `from` cannot talk, whoever opens the connection: both links of each pair.

    Models a partition that rejects (`how="cut"`), that holds bytes back (`how="stall"`) or that swallows them
    (`how="blackhole"`). Members of a group still reach each other, and clients reach everybody whose site is not named;
    a node in both groups is on the side of `nodes`.
    Source: Toxiproxy, as in `cut`, `stall` and `blackhole`.
    """

    name: ClassVar[str] = "isolate"

    def __init__(self, cluster: Cluster, *, nodes: Sequence[str], from_: Sequence[str], how: str = "cut") -> None:
        super().__init__(cluster)
        others = [node for node in from_ if node not in nodes]
        self.effects = tuple(Effect(*pair, separated(how)) for pair in between(nodes, others))
