"""The layout of nodes that run elsewhere: every client reaches them at the address that they advertise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from fencepost.harness.errors import UsageError
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.layout import SITE_PREFIX, Layout, Listener, Node, Proxy


@dataclass(frozen=True)
class DirectLayout(Layout):
    """A layout without links."""

    def proxies(self, source: str, destination: str) -> tuple[Proxy, ...]:
        if not source.startswith(SITE_PREFIX):
            raise UsageError(f"the link from {source} to {destination} runs elsewhere: nothing here breaks it")
        return super().proxies(source, destination)

    def links(self) -> Iterator[Proxy]:
        return iter(())

    def _site_link(self, site: str, node: Node) -> Proxy:
        at = node.endpoint(Listener.CLIENT)
        return Proxy(f"site-{site}-{node.name}", at, at)


def direct(planned: Layout, brokers: Mapping[int, Endpoint]) -> DirectLayout:
    """Return the planned nodes at the addresses of these brokers, by id."""
    nodes = (
        replace(node, address=brokers[node.id].host, own_port=brokers[node.id].port, one_listener=True)
        for node in planned.nodes
    )
    return DirectLayout(planned.addresses, tuple(nodes), planned.sites)
