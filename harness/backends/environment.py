"""The environment of the nodes of one cluster: addresses, links that can be broken, and a backend."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fencepost.faults.capabilities import Containers
from fencepost.harness.backends.backend import Backend, OnExit
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import Layout, Node, Proxy
from fencepost.harness.network.toxiproxy import Toxiproxy
from fencepost.results.records.folder import RunFolder

LayOut = Callable[[Addresses], Layout]
"""The layout of a plan, once its addresses are known."""


class Environment(Protocol):
    """A context in which all links are open. No node runs at its start, and its end removes everything."""

    @property
    def layout(self) -> Layout: ...

    @property
    def backend(self) -> Backend:
        """Runs the nodes."""

    @property
    def containers(self) -> Containers: ...

    def server(self, proxy: Proxy) -> Toxiproxy:
        """Return the Toxiproxy that runs a proxy."""

    def connect(self, proxy: Proxy, timeout: float) -> socket.socket:
        """Connect to a proxy as its source does."""

    def dial(self, node: Node, port: int, timeout: float) -> socket.socket:
        """Connect to a port of a node at its own address, past all links."""

    def sock_diag(self, proxy: Proxy) -> socket.socket:
        """Return a sock_diag socket of the network in which a proxy listens."""

    def broken(self) -> list[str]:
        """Return messages about parts that ended by themselves; the run is then inconclusive."""


@dataclass(frozen=True)
class EnvironmentSpec:
    """The specification of an environment."""

    folder: RunFolder
    lay_out: LayOut
    on_exit: OnExit
    """Called for nodes that end by themselves."""
    topics: Sequence[str] = ()
    """The topics of the plan."""
    prefix: str = ""
    """The prefix of all that is the run's own, where the cluster has more than that."""
