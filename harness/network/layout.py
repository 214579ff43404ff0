"""Who is where: the nodes of a plan, and every link between them, laid out on the addresses of one cluster.

A value, computed from the plan and the lease. Each node gets a name table (hosts file) of its own, in which its own
name is its own address and a peer's name is the address of the link to that peer: names and ports are the same
everywhere, and still each directed pair of nodes has a path that can be broken alone.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from harness.errors import UsageError
from harness.network.addresses import (
    CLIENT_PORT,
    DOOR_PORT,
    ELECTION_PORT,
    PEER_PORT,
    QUORUM_PORT,
    ZOOKEEPER_PORT,
    Addresses,
    Endpoint,
)

MAIN_SITE = "main"
"""The client site whose addresses brokers advertise."""
PROBE_SITE = "probe"
"""The client site that raw probes use; it reaches controllers and ZooKeeper, too."""
SITE_PREFIX = "site:"
"""`site:main` is a client site where a node could stand as well."""


class Role(StrEnum):
    CONTROLLER = "controller"
    BROKER = "broker"
    ZOOKEEPER = "zookeeper"


class Listener(StrEnum):
    """A node's listeners by Kafka's names, CONTROLLER of a controller, two of a broker; and those of ZooKeeper."""

    CONTROLLER = "CONTROLLER"
    INTERNAL = "INTERNAL"
    CLIENT = "CLIENT"
    ZOOKEEPER = "ZOOKEEPER"
    QUORUM = "QUORUM"
    ELECTION = "ELECTION"

    @property
    def port(self) -> int:
        return _PORTS[self]


_PORTS = {
    Listener.CONTROLLER: PEER_PORT,
    Listener.INTERNAL: PEER_PORT,
    Listener.CLIENT: CLIENT_PORT,
    Listener.ZOOKEEPER: ZOOKEEPER_PORT,
    Listener.QUORUM: QUORUM_PORT,
    Listener.ELECTION: ELECTION_PORT,
}


@dataclass(frozen=True)
class Node:
    name: str
    id: int
    index: int
    roles: frozenset[Role]
    address: str
    duplicate_of: str | None = None
    directory: Literal["empty", "cloned", "same"] = "empty"
    """Of a duplicate: nothing, a copy of the elder's, or the elder's own."""
    log_dirs: int = 1
    level: str | None = None
    """The protocol level that it starts at; None: the target's own."""
    clock: Literal["machine", "own"] = "machine"
    """Whose wall clock it reads: its own can be set wrong."""
    disk: Literal["plain", "breakable"] = "plain"
    """`breakable`: its log directories are mounts."""

    @property
    def is_controller(self) -> bool:
        return Role.CONTROLLER in self.roles

    @property
    def is_broker(self) -> bool:
        return Role.BROKER in self.roles

    @property
    def is_zookeeper(self) -> bool:
        return Role.ZOOKEEPER in self.roles

    @property
    def listeners(self) -> tuple[Listener, ...]:
        if self.is_zookeeper:
            return Listener.ZOOKEEPER, Listener.QUORUM, Listener.ELECTION
        broker = (Listener.INTERNAL, Listener.CLIENT) if self.is_broker else ()
        return (Listener.CONTROLLER, *broker) if self.is_controller else broker

    def endpoint(self, listener: Listener) -> Endpoint:
        return Endpoint(self.address, listener.port)

    @property
    def front(self) -> Endpoint:
        """Where this node answers its peers: asked there, it says whether it is up."""
        return Endpoint(self.address, ZOOKEEPER_PORT if self.is_zookeeper else PEER_PORT)


@dataclass(frozen=True)
class Proxy:
    """One Toxiproxy proxy: what connects to `listen` ends at `upstream`."""

    name: str
    listen: Endpoint
    upstream: Endpoint


@dataclass(frozen=True)
class Layout:
    addresses: Addresses
    nodes: tuple[Node, ...]
    sites: tuple[str, ...]
    """Client sites in the order of their numbers: main, probe, then the others of the plan."""

    def node(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        raise UsageError(f"there is no node {name!r}: the nodes are {', '.join(node.name for node in self.nodes)}")

    @property
    def controllers(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_controller)

    @property
    def brokers(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_broker)

    @property
    def zookeepers(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_zookeeper)

    def link(self, source: str, destination: str) -> Proxy:
        """The proxy through which the link from a node, or from a client site (`site:main`), to a node is measured."""
        return self.proxies(source, destination)[0]

    def proxies(self, source: str, destination: str) -> tuple[Proxy, ...]:
        """All that the link consists of: one proxy for each port at which `destination` listens to `source`."""
        to = self.node(destination)
        if source.startswith(SITE_PREFIX):
            return (self._site_link(source.removeprefix(SITE_PREFIX), to),)
        origin = self.node(source)
        if origin == to:
            raise UsageError(f"{source} has no link to itself")
        address, name = self.addresses.link(origin.index, to.index), f"link-{source}-{destination}"
        if not (origin.is_zookeeper and to.is_zookeeper):
            return (Proxy(name, Endpoint(address, to.front.port), to.front),)
        return (
            Proxy(f"{name}-election", Endpoint(address, ELECTION_PORT), to.endpoint(Listener.ELECTION)),
            Proxy(f"{name}-quorum", Endpoint(address, QUORUM_PORT), Endpoint(to.address, DOOR_PORT)),
        )

    def links(self) -> Iterator[Proxy]:
        """Every proxy there is: of each ordered pair of nodes, and from each site to each broker (from the probe site
        to controllers and ZooKeeper, and to each of a broker's listeners, as well)."""
        for source in self.nodes:
            for destination in self.nodes:
                if source != destination:
                    yield from self.proxies(source.name, destination.name)
        for site in self.sites:
            for node in self.nodes:
                if node.is_broker or site == PROBE_SITE:
                    yield self._site_link(site, node)
        for broker in self.brokers:
            yield self.probe_link(broker.name, Listener.INTERNAL)

    def doors(self) -> dict[Endpoint, Endpoint]:
        """What stands in front of each server of an ensemble (see `doors`), and where it leads."""
        servers = self.zookeepers if len(self.zookeepers) > 1 else ()
        return {Endpoint(node.address, DOOR_PORT): node.endpoint(Listener.QUORUM) for node in servers}

    def probe_link(self, destination: str, listener: Listener) -> Proxy:
        """The link from the probe site to one listener of a node: to a broker's INTERNAL one as well."""
        node = self.node(destination)
        if listener not in node.listeners:
            raise UsageError(f"{destination} has no listener {listener}: it has {', '.join(node.listeners)}")
        usual = self._site_link(PROBE_SITE, node)
        if listener.port == usual.upstream.port:
            return usual
        return Proxy(f"{usual.name}-internal", Endpoint(usual.listen.host, listener.port), node.endpoint(listener))

    def listeners(self) -> Iterator[Endpoint]:
        """Every address that must be free before this cluster starts."""
        yield self.addresses.toxiproxy
        yield from self.doors()
        for node in self.nodes:
            yield from {node.endpoint(listener) for listener in node.listeners}
        for proxy in self.links():
            yield proxy.listen

    def hosts_of(self, node: Node) -> dict[str, str]:
        """The name table of one node. The machine's own name is in it since a JVM looks itself up."""
        table = {"localhost": "127.0.0.1", socket.gethostname(): "127.0.0.1", node.name: node.address}
        for peer in self.nodes:
            if peer != node:
                table[peer.name] = self.addresses.link(node.index, peer.index)
        return table

    def bootstrap(self, site: str = MAIN_SITE) -> str:
        """`host:port,…` of the brokers as clients at this site reach them; duplicates are left out."""
        brokers = (node for node in self.brokers if node.duplicate_of is None)
        return ",".join(str(self._site_link(site, node).listen) for node in brokers)

    def ensemble(self) -> str:
        """`host:port,…` of the ZooKeeper servers as the probe site reaches them, past what a fault breaks."""
        return ",".join(str(self._site_link(PROBE_SITE, node).listen) for node in self.zookeepers)

    def _site_link(self, site: str, node: Node) -> Proxy:
        if site not in self.sites:
            raise UsageError(f"there is no client site {site!r}: the sites are {', '.join(self.sites)}")
        port = CLIENT_PORT if node.is_broker else node.front.port
        listen = Endpoint(self.addresses.site(self.sites.index(site), node.index), port)
        return Proxy(f"site-{site}-{node.name}", listen, Endpoint(node.address, port))


def site_names(planned: Sequence[str]) -> tuple[str, ...]:
    """Client sites in the order of their numbers, whatever order the plan has them in."""
    return (MAIN_SITE, PROBE_SITE, *(site for site in planned if site not in (MAIN_SITE, PROBE_SITE)))


def hosts_file(table: dict[str, str]) -> str:
    return "".join(f"{address} {name}\n" for name, address in table.items())
