"""Proof from the kernel's socket tables that the traffic between nodes goes through their links.

A name that resolves to a peer's own address, or an address that a peer handed out, opens a path that no fault can
break; nothing but the socket tables shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
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
    pids: Iterable[int], own: frozenset[Endpoint], tables: SocketTables | None = None, *, established: bool = False
) -> Iterator[Endpoint]:
    """Yield the remote ends of connections that the processes of one node opened, half-open ones unless `established`.

    What they accepted is known by where they listen, and by the node's `own` endpoints: a node that ends no longer
    listens, while what it accepted is still open. Connections between them stay within the node.
    """
    tables = tables or SocketTables()
    sockets = [socket for pid in pids for socket in sockets_of(pid, tables)]
    listening = own | {socket.local for socket in sockets if socket.state is SocketState.LISTEN}
    inside = listening | {socket.local for socket in sockets}
    for socket in sockets:
        if socket.remote is None or socket.remote in inside or _any_address(socket.local, listening):
            continue
        if socket.state is SocketState.ESTABLISHED or not established:
            yield socket.remote


def bypasses(layout: Layout, pids: Mapping[str, Collection[int]], one_process: Collection[str] = ()) -> list[Bypass]:
    """Every connection, open now, of these nodes (name to the pids of all their processes) that leads past their
    links. Nodes that are `one_process` accept at the endpoints of each of them."""
    tables = SocketTables()
    shared = frozenset[Endpoint]().union(*(_own(layout.node(name)) for name in one_process))
    return [
        Bypass(name, remote, _owner(layout, remote))
        for name, members in pids.items()
        for remote in outgoing(members, shared if name in one_process else _own(layout.node(name)), tables)
        if remote not in _links_of(layout, layout.node(name)) and remote.host != layout.node(name).address
    ]


def peers(layout: Layout, name: str, pids: Collection[int]) -> frozenset[str]:
    """The nodes that this one, with all its processes, has an established connection to, through its links."""
    links = _links_of(layout, layout.node(name))
    remotes = outgoing(pids, _own(layout.node(name)), established=True)
    return frozenset(links[remote] for remote in remotes if remote in links)


def _any_address(local: Endpoint, listening: Collection[Endpoint]) -> bool:
    """Return whether one listens at this endpoint, or at its port of all addresses."""
    return any(Endpoint(host, local.port) in listening for host in (local.host, "0.0.0.0", "::"))


def _own(node: Node) -> frozenset[Endpoint]:
    return frozenset(map(node.endpoint, node.listeners))


def _links_of(layout: Layout, node: Node) -> dict[Endpoint, str]:
    peers = (peer for peer in layout.nodes if peer != node and not node.is_service)
    return {proxy.listen: peer.name for peer in peers for proxy in layout.proxies(node.name, peer.name)}


def _owner(layout: Layout, remote: Endpoint) -> str | None:
    return next((node.name for node in layout.nodes if node.address == remote.host), None)
