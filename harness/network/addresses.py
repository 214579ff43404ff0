"""The addresses of one running cluster in 127.0.0.0/8, a pure function of the number `k` that it leased.

=====================  ======================  ===========================================================
address                port                    listener
=====================  ======================  ===========================================================
127.k.0.n              9090, brokers also 9092 node of index n itself
127.k.0.n              9091                    the controller of a node that is a broker as well
127.k.0.n              9404                    its metrics, where a plan gives it such a listener
127.k.0.n              2181, 2888, 3888        the same, if it is a ZooKeeper server
127.k.0.n              2887                    its accept-delay proxy, see `accept_delay`
127.k.{100+a}.b        the same as b's         the link from node a to node b
127.k.{200+s}.b        the same as b's         the link from client site s to node b
127.k.0.250            8474                    the API of the Toxiproxy of this cluster
=====================  ======================  ===========================================================

The ports are the same everywhere and below 32768, where the kernel never takes one for an outgoing connection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

PEER_PORT = 9090
"""CONTROLLER listener of a controller, INTERNAL listener of a broker."""
COMBINED_PORT = 9091
"""CONTROLLER listener of a node that is a broker as well."""
CLIENT_PORT = 9092
METRICS_PORT = 9404
"""The port at which a node answers with its metrics, in a plan that gives it `metrics.listener: "{address}:9404"`."""
ZOOKEEPER_PORT = 2181
"""The port at which a ZooKeeper server accepts sessions."""
QUORUM_PORT, ELECTION_PORT = 2888, 3888
"""The ports between the servers of an ensemble; only their leader listens at the first."""
ACCEPT_DELAY_PORT = 2887
"""The port of the accept-delay proxy, at which links to the quorum port end."""
TOXIPROXY_PORT = 8474
PROTOCOL_PORTS = frozenset(
    {
        *(PEER_PORT, COMBINED_PORT, CLIENT_PORT, ZOOKEEPER_PORT),
        *(QUORUM_PORT, ELECTION_PORT, ACCEPT_DELAY_PORT, TOXIPROXY_PORT),
    }
)
"""The ports by which the harness knows a protocol: no other one may be there."""

FIRST_K, LAST_K = 20, 250
HIGHEST_INDEX = 99
HIGHEST_SITE = 54


class Endpoint(NamedTuple):
    """A TCP address; `str` gives `host:port`."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parse_endpoint(text: str) -> Endpoint:
    """Parse `host:port`."""
    host, _, port = text.rpartition(":")
    return Endpoint(host, int(port))


@dataclass(frozen=True)
class Addresses:
    """The addresses of the cluster that leased number `k`."""

    k: int

    def node(self, index: int) -> str:
        return f"127.{self.k}.0.{_index(index)}"

    def link(self, source: int, destination: int) -> str:
        return f"127.{self.k}.{100 + _index(source)}.{_index(destination)}"

    def site(self, site: int, destination: int) -> str:
        if not 0 <= site <= HIGHEST_SITE:
            raise ValueError(f"client site {site} has no address: sites are numbered 0 to {HIGHEST_SITE}")
        return f"127.{self.k}.{200 + site}.{_index(destination)}"

    @property
    def toxiproxy(self) -> Endpoint:
        return Endpoint(f"127.{self.k}.0.250", TOXIPROXY_PORT)


def _index(index: int) -> int:
    if not 1 <= index <= HIGHEST_INDEX:
        raise ValueError(f"node index {index} has no address: indexes are 1 to {HIGHEST_INDEX}")
    return index
