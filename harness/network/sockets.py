"""Proof from the kernel's socket tables that the traffic between nodes goes through their links.

A name that resolves to a peer's own address, or an address that a peer handed out, opens a path that no fault can
break; nothing but the socket tables shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.layout import Layout, Node
from fencepost.harness.network.socket_table import SocketState, SocketTables, sockets_of


@dataclass(frozen=True)
class Bypass:
    """A connection that a node opened to something that is not one of its links."""

    node: str
    remote: Endpoint
    towards: str | None
    """The node whose own address that is, if it is one's."""

    def __str__(self) -> str:
        owner = f", the address of {self.towards} itself" if self.towards else ""
        return f"{self.node} is connected to {self.remote}{owner}: that is none of its links"


def outgoing(
    pid: int, own: frozenset[Endpoint], tables: SocketTables | None = None, *, established: bool = False
) -> Iterator[Endpoint]:
    """Yield the remote ends of connections that a process opened, half-open ones unless `established`.

    What it accepted is known by where it listens, and by its `own` endpoints: a node that ends no longer listens, while
    what it accepted is still open.
    """
    sockets = sockets_of(pid, tables)
    listening = own | {each.local for each in sockets if each.state is SocketState.LISTEN}
    for each in sockets:
        if each.remote is None or each.local in listening:
            continue
        if each.state is SocketState.ESTABLISHED or not established:
            yield each.remote


def bypasses(layout: Layout, pids: Mapping[str, int]) -> list[Bypass]:
    """Every connection, open now, of these nodes (name to pid) that leads past their links."""
    tables = SocketTables()
    return [
        Bypass(name, remote, _owner(layout, remote))
        for name, pid in pids.items()
        for remote in outgoing(pid, _own(layout.node(name)), tables)
        if remote not in _links_of(layout, layout.node(name)) and remote.host != layout.node(name).address
    ]


def peers(layout: Layout, name: str, pid: int) -> frozenset[str]:
    """The nodes that this one has an established connection to, through its links."""
    links = _links_of(layout, layout.node(name))
    remotes = outgoing(pid, _own(layout.node(name)), established=True)
    return frozenset(links[remote] for remote in remotes if remote in links)


def _own(node: Node) -> frozenset[Endpoint]:
    return frozenset(map(node.endpoint, node.listeners))


def _links_of(layout: Layout, node: Node) -> dict[Endpoint, str]:
    peers = (peer for peer in layout.nodes if peer != node)
    return {proxy.listen: peer.name for peer in peers for proxy in layout.proxies(node.name, peer.name)}


def _owner(layout: Layout, remote: Endpoint) -> str | None:
    return next((node.name for node in layout.nodes if node.address == remote.host), None)
