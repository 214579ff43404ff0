"""The pod of one node: the container whose network the node lives in, with the links that begin there."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

from fencepost.harness.backends.docker.agent import FOLDER, SOCKET
from fencepost.harness.backends.docker.build import ready
from fencepost.harness.backends.docker.containers import Container, Containers, ContainerSpec, give
from fencepost.harness.backends.docker.dialling import reaches_agent
from fencepost.harness.backends.docker.forwarder import TcpForwarder
from fencepost.harness.backends.docker.images import AGENT, pod_image
from fencepost.harness.backends.exit_summary import exit_summary
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import TOXIPROXY_PORT, Endpoint
from fencepost.harness.network.layout import Layout, Node, Proxy
from fencepost.harness.network.server import await_version
from fencepost.harness.network.toxiproxy import Toxiproxy
from fencepost.results.records.folder import RunFolder

READY_WITHIN = 30.0
ASK_EVERY = 0.02
FORWARDER_OFFSET = 100
"""The API of the Toxiproxy in the pod of a node of index n is at 127.k.0.{100+n}, inside and on this machine."""


class Pod:
    """The pod of one node, from `start` to `remove`. `on_end` is called in another thread if it ends by itself."""

    def __init__(self, node: Node, layout: Layout, shared: Path, run: RunFolder, on_end: Callable[[str], None]) -> None:
        """`shared` is the folder that the pod and the harness see; it has the socket of the agent."""
        self.node = node
        self.folder = shared
        self._api = api_of(layout, node)
        self._log = run.logs / f"pod-{node.name}.log"
        self.toxiproxy = Toxiproxy(self._api, log=self._log)
        self._layout = layout
        self._on_end = on_end
        self._container: Container | None = None
        self._forwarder: TcpForwarder | None = None

    @property
    def container(self) -> Container:
        if self._container is None:
            raise InfrastructureError(f"the pod of {self.node.name} was not started")
        return self._container

    @property
    def id(self) -> str:
        return self.container.id

    def start(self, containers: Containers, tag: str, network: str) -> None:
        """Start the pod and wait until all links are open. Raises InfrastructureError if that takes too long."""
        self.folder.mkdir()
        self._log.touch()
        give(self.folder)
        give(self._log)
        accept_delays = [
            f"--accept-delay={at}={upstream}"
            for at, upstream in self._layout.accept_delay_proxies().items()
            if at.host == self.node.address
        ]
        spec = ContainerSpec(
            name=f"{tag}-pod-{self.node.name}",
            node=self.node.name,
            image=ready(pod_image()),
            argv=["python3", "-m", AGENT, str(self._api), *accept_delays],
            log=self._log,
            shared={self.folder: str(FOLDER)},
            network=network,
            address=self.node.address,
            # A JVM looks up the name of the machine that it is on, and finds it in its name table.
            hostname=socket.gethostname(),
            hosts={name: where for name, where in self._layout.hosts_of(self.node).items() if name != "localhost"},
        )
        self._container = containers.start(spec, self._ended)
        self._await_agent()
        self._forwarder = TcpForwarder(self.folder, self._api, self._api)
        await_version(self.toxiproxy)
        self.toxiproxy.populate(self._links())

    def remove(self, containers: Containers) -> None:
        if self._forwarder is not None:
            self._forwarder.close()
        if self._container is not None:
            containers.remove(self._container)

    def _links(self) -> list[Proxy]:
        peers = (peer for peer in self._layout.nodes if peer != self.node)
        return [proxy for peer in peers for proxy in self._layout.proxies(self.node.name, peer.name)]

    def _await_agent(self) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while not reaches_agent(self.folder):
            if self.container.exited.is_set():
                raise InfrastructureError(self._exit_summary())
            if time.monotonic() > deadline:
                raise InfrastructureError(
                    f"the pod of {self.node.name} does not answer at {self.folder / SOCKET} after {READY_WITHIN:g} s"
                )
            time.sleep(ASK_EVERY)

    def _ended(self, exit_code: int) -> None:
        self._on_end(self._exit_summary())

    def _exit_summary(self) -> str:
        return exit_summary(f"the pod of {self.node.name}", self.container.exit_code, self._log)


def api_of(layout: Layout, node: Node) -> Endpoint:
    return Endpoint(f"127.{layout.addresses.k}.0.{FORWARDER_OFFSET + node.index}", TOXIPROXY_PORT)
