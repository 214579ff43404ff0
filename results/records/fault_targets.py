"""The nodes and links that a fault names, as the event of its intent has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FaultTargets:
    """The targets of a fault. A link has no direction: it is the set of its two ends."""

    nodes: frozenset[str]
    links: frozenset[frozenset[str]]

    @classmethod
    def of(cls, intent: Mapping[str, Any]) -> FaultTargets:
        """Read the data of an intent: `nodes`, `node`, and `links` of `from` and `to`."""
        nodes = {str(each) for each in (*intent.get("nodes", ()), intent.get("node")) if each is not None}
        links = {frozenset({str(link["from"]), str(link["to"])}) for link in intent.get("links", ())}
        return cls(frozenset(nodes), frozenset(links))

    @property
    def touched(self) -> frozenset[str]:
        """The nodes, and the ends of the links."""
        return self.nodes.union(*self.links)
