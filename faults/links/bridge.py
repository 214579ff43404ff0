"""Two halves of a cluster lose each other, and share one node that reaches both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from faults.capabilities import Cluster
from faults.links.holding import separated
from faults.links.link_fault import Effect, LinkFault, between


class Bridge(LinkFault):
    """`nodes` and `from` cannot talk, whoever opens the connection; `over` reaches every node of both.

    Models a partition that is not transitive: a node with a leg in each of two networks, as the bridge of Jepsen's
    nemeses. Each half may hold that `over` is on its side. `over` may stand in either group, or in none. Clients reach
    everybody whose site is not named. `how`: as in `isolate`. Does not model a node that forwards for others.
    Source: Toxiproxy, as in `isolate`.
    """

    name: ClassVar[str] = "bridge"

    def __init__(
        self, cluster: Cluster, *, nodes: Sequence[str], from_: Sequence[str], over: str, how: str = "cut"
    ) -> None:
        super().__init__(cluster)
        half = [node for node in nodes if node != over]
        other = [node for node in from_ if node != over and node not in half]
        self.effects = tuple(Effect(*pair, separated(how)) for pair in between(half, other))
        self.over = over

    def targets(self) -> dict[str, object]:
        return {**super().targets(), "over": self.over}
