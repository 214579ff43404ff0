"""Proof from the kernel's socket tables that what nodes say to each other goes through their links.

A name that resolves to a peer's own address, or an address that a peer handed out, opens a path that no fault can
break; nothing but the socket tables shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import psutil

from harness.network.addresses import Endpoint
from harness.network.layout import Layout, Node

MAPPED = "::ffff:"
"""How an IPv4 address looks on an IPv6 socket, which a JVM may open."""


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


def outgoing(pid: int, own: frozenset[Endpoint], *, established: bool = False) -> Iterator[Endpoint]:
    """Where the connections that this process opened lead, half-open ones too unless told so. Empty if it is gone.

    What it accepted is known by where it listens, and by its `own` endpoints: a node that ends no longer listens, while
    what it accepted is still open.
    """
    try:
        sockets = psutil.Process(pid).net_connections(kind="tcp")
    except psutil.Error:
        return
    listening = own | {_endpoint(each.laddr) for each in sockets if each.status == psutil.CONN_LISTEN}
    for each in sockets:
        opened = each.raddr and _endpoint(each.laddr) not in listening
        if opened and (each.status == psutil.CONN_ESTABLISHED or not established):
            yield _endpoint(each.raddr)


def bypasses(layout: Layout, pids: Mapping[str, int]) -> list[Bypass]:
    """Every connection, open now, of these nodes (name to pid) that leads past their links."""
    return [
        Bypass(name, remote, _owner(layout, remote))
        for name, pid in pids.items()
        for remote in outgoing(pid, _own(layout.node(name)))
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


def _endpoint(address: tuple[str, int]) -> Endpoint:
    return Endpoint(address[0].removeprefix(MAPPED), address[1])
