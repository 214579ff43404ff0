"""The nodes of a plan and every link between them, laid out on the addresses of one cluster.

A layout is a value, computed from the plan and the lease. Each node gets its own name table (hosts file), which maps
its own name to its own address and the name of a peer to the address of the link to that peer. So names and ports are
the same everywhere, and each directed pair of nodes still has a path that can be broken alone.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from fencepost.harness.errors import UsageError
from fencepost.harness.network.addresses import (
    ACCEPT_DELAY_PORT,
    CLIENT_PORT,
    COMBINED_PORT,
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
"""The client site of raw probes; it also reaches controllers and ZooKeeper."""
SITE_PREFIX = "site:"
"""The prefix of a client site where a node name is also allowed: `site:main`."""


class Role(StrEnum):
    CONTROLLER = "controller"
    BROKER = "broker"
    ZOOKEEPER = "zookeeper"
    SERVICE = "service"


class Listener(StrEnum):
    """The listeners of a node.

    CONTROLLER on controllers, INTERNAL and CLIENT on brokers, SERVICE on services, the others on ZooKeeper.
    """

    CONTROLLER = "CONTROLLER"
    INTERNAL = "INTERNAL"
    CLIENT = "CLIENT"
    ZOOKEEPER = "ZOOKEEPER"
    QUORUM = "QUORUM"
    ELECTION = "ELECTION"
    SERVICE = "SERVICE"

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
    """The log directories of a duplicate: empty, a copy of those of the original, or those of the original itself."""
    log_dirs: int = 1
    level: str | None = None
    """The protocol level at which the node starts; None for that of the target."""
    release: Literal["old", "new"] = "old"
    """The release with which the node starts, of a target with two."""
    clock: Literal["machine", "own"] = "machine"
    """The wall clock that the node reads; its `own` can be set."""
    disk: Literal["plain", "breakable"] = "plain"
    """`breakable`: the log directories of the node are mounts."""
    controller_id: int | None = None
    """The id of the controller in a process that is a broker as well."""
    joins: bool = False
    """A controller that does not begin the cluster: it starts later, without a vote at first."""
    rack: str | None = None
    settings: tuple[tuple[str, str | None], ...] = ()
    """Configuration keys of this node alone, with their values; None leaves a key out."""
    one_listener: bool = False
    """A broker serves its peers where it serves clients."""
    own_port: int | None = None
    """The port of a service, or of a broker that runs elsewhere; None for nodes whose ports are as everywhere."""
    question: bytes | None = None
    """The question that a service answers at once; None for nodes whose protocol follows from the port."""
    health_port: int | None = None
    """The port at which it gives a sign of life, if that is not the one for its peers."""
    health_question: bytes | None = None
    """The question there."""

    @property
    def quorum_id(self) -> int:
        """The id of the node as a controller."""
        return self.id if self.controller_id is None else self.controller_id

    @property
    def is_combined(self) -> bool:
        return self.is_controller and self.is_broker

    @property
    def is_controller(self) -> bool:
        return Role.CONTROLLER in self.roles

    @property
    def begins_quorum(self) -> bool:
        """True if the node is one of the voters that begin the cluster.

        A duplicate is not a voter: it uses the id of one. A controller that starts later is made one by a request.
        """
        return self.is_controller and self.duplicate_of is None and not self.joins

    @property
    def is_broker(self) -> bool:
        return Role.BROKER in self.roles

    @property
    def is_zookeeper(self) -> bool:
        return Role.ZOOKEEPER in self.roles

    @property
    def is_service(self) -> bool:
        return Role.SERVICE in self.roles

    @property
    def listeners(self) -> tuple[Listener, ...]:
        if self.is_service:
            return (Listener.SERVICE,)
        if self.is_zookeeper:
            return Listener.ZOOKEEPER, Listener.QUORUM, Listener.ELECTION
        internal = () if self.one_listener else (Listener.INTERNAL,)
        broker = (*internal, Listener.CLIENT) if self.is_broker else ()
        return (Listener.CONTROLLER, *broker) if self.is_controller else broker

    def endpoint(self, listener: Listener) -> Endpoint:
        return Endpoint(self.address, self.port(listener))

    def port(self, listener: Listener) -> int:
        if self.own_port is not None:
            return self.own_port
        return COMBINED_PORT if self.is_combined and listener is Listener.CONTROLLER else listener.port

    @property
    def front(self) -> Endpoint:
        """The endpoint at which this node answers its peers; a round trip there shows that it is up."""
        if self.own_port is not None:
            return Endpoint(self.address, self.own_port)
        if self.one_listener:
            return Endpoint(self.address, CLIENT_PORT)
        return Endpoint(self.address, ZOOKEEPER_PORT if self.is_zookeeper else PEER_PORT)

    @property
    def sign_of_life(self) -> Endpoint:
        """The endpoint that is asked whether the node is up."""
        return self.front if self.health_port is None else Endpoint(self.address, self.health_port)


@dataclass(frozen=True)
class Proxy:
    """One Toxiproxy proxy: what connects to `listen` ends at `upstream`."""

    name: str
    listen: Endpoint
    upstream: Endpoint
    question: bytes | None = None
    """The question by which it is measured; None: that of its port."""


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
    def first_voters(self) -> tuple[Node, ...]:
        """The voters that begin the cluster."""
        return tuple(node for node in self.nodes if node.begins_quorum)

    @property
    def brokers(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_broker)

    @property
    def zookeepers(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.is_zookeeper)

    def link(self, source: str, destination: str) -> Proxy:
        """Return the proxy that measures the link to a node from a node or a client site (`site:main`)."""
        return self.proxies(source, destination)[0]

    def proxies(self, source: str, destination: str) -> tuple[Proxy, ...]:
        """Return the proxies of a link: one for each port at which `destination` listens to `source`."""
        to = self.node(destination)
        if source.startswith(SITE_PREFIX):
            return (self._site_link(source.removeprefix(SITE_PREFIX), to),)
        origin = self.node(source)
        if origin == to:
            raise UsageError(f"{source} has no link to itself")
        if origin.is_service:
            raise UsageError(
                f"{source} is a service, which opens no connection: name the link from {destination} to it"
            )
        address, name = self.addresses.link(origin.index, to.index), f"link-{source}-{destination}"
        if not (origin.is_zookeeper and to.is_zookeeper):
            front = Proxy(name, Endpoint(address, to.front.port), to.front, to.question)
            if not to.is_combined:
                return (front,)
            controller = to.endpoint(Listener.CONTROLLER)
            return front, Proxy(f"{name}-controller", Endpoint(address, controller.port), controller)
        return (
            Proxy(f"{name}-election", Endpoint(address, ELECTION_PORT), to.endpoint(Listener.ELECTION)),
            Proxy(f"{name}-quorum", Endpoint(address, QUORUM_PORT), Endpoint(to.address, ACCEPT_DELAY_PORT)),
        )

    def links(self) -> Iterator[Proxy]:
        """Every proxy there is: of each ordered pair of nodes, and from each site to each broker (from the probe site
        to controllers and ZooKeeper, and to each of a broker's listeners, as well)."""
        for source in self.nodes:
            for destination in self.nodes:
                if source != destination and not source.is_service:
                    yield from self.proxies(source.name, destination.name)
        for site in self.sites:
            for node in self.nodes:
                if node.is_broker or site == PROBE_SITE:
                    yield self._site_link(site, node)
        for broker in self.brokers:
            if not broker.one_listener:
                yield self.probe_link(broker.name, Listener.INTERNAL)
            if broker.is_combined:
                yield self.probe_link(broker.name, Listener.CONTROLLER)

    def accept_delay_proxies(self) -> dict[Endpoint, Endpoint]:
        """Return the accept-delay proxies of an ensemble: listener to the quorum port behind it."""
        servers = self.zookeepers if len(self.zookeepers) > 1 else ()
        return {Endpoint(node.address, ACCEPT_DELAY_PORT): node.endpoint(Listener.QUORUM) for node in servers}

    def probe_link(self, destination: str, listener: Listener) -> Proxy:
        """The link from the probe site to one listener of a node: to a broker's INTERNAL one as well."""
        node = self.node(destination)
        if listener not in node.listeners:
            raise UsageError(f"{destination} has no listener {listener}: it has {', '.join(node.listeners)}")
        usual = self._site_link(PROBE_SITE, node)
        upstream = node.endpoint(listener)
        if upstream.port == usual.upstream.port:
            return usual
        return Proxy(f"{usual.name}-{listener.lower()}", Endpoint(usual.listen.host, upstream.port), upstream)

    def listeners(self) -> Iterator[Endpoint]:
        """Every address that must be free before this cluster starts."""
        yield self.addresses.toxiproxy
        yield from self.accept_delay_proxies()
        for node in self.nodes:
            yield from {node.endpoint(listener) for listener in node.listeners} | {node.sign_of_life}
        for proxy in self.links():
            yield proxy.listen

    def hosts_of(self, node: Node) -> dict[str, str]:
        """Return the name table of one node. It has the name of the machine, since a JVM looks itself up."""
        table = {"localhost": "127.0.0.1", socket.gethostname(): "127.0.0.1", node.name: node.address}
        for peer in self.nodes:
            if peer != node:
                table[peer.name] = self.addresses.link(node.index, peer.index)
        return table

    def bootstrap(self, site: str = MAIN_SITE) -> str:
        """Return `host:port,…` of the brokers as clients at this site reach them, without duplicates."""
        brokers = (node for node in self.brokers if node.duplicate_of is None)
        return ",".join(str(self._site_link(site, node).listen) for node in brokers)

    def ensemble(self) -> str:
        """Return `host:port,…` of the ZooKeeper servers as the probe site reaches them, past all faults."""
        return ",".join(str(self._site_link(PROBE_SITE, node).listen) for node in self.zookeepers)

    def _site_link(self, site: str, node: Node) -> Proxy:
        if site not in self.sites:
            raise UsageError(f"there is no client site {site!r}: the sites are {', '.join(self.sites)}")
        port = CLIENT_PORT if node.is_broker else node.front.port
        listen = Endpoint(self.addresses.site(self.sites.index(site), node.index), port)
        return Proxy(f"site-{site}-{node.name}", listen, Endpoint(node.address, port), node.question)


def site_names(planned: Sequence[str]) -> tuple[str, ...]:
    """Return the client sites in the order of their numbers: main and probe first."""
    return (MAIN_SITE, PROBE_SITE, *(site for site in planned if site not in (MAIN_SITE, PROBE_SITE)))


def hosts_file(table: dict[str, str]) -> str:
    return "".join(f"{address} {name}\n" for name, address in table.items())
