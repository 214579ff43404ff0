"""The environment of a cluster in containers: a network of its own, and on it a pod for each node.

A pod owns the network that its node lives in. Within it the name tables, the links that begin at the node and their
ports are what they are among processes, 127.k.{100+a}.b; each link leads on to the address of b's pod, at which b
listens. So a node's own address is the only one that differs, 10.213.k.n (or another free range) for 127.k.0.n.

The network has no route to other networks: its containers and this machine reach each other, and nothing else.
Nothing is published but the client sites, by a Toxiproxy of the machine at the loopback addresses that they have with
processes, too.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from fencepost.harness.backends.docker.backend import AT_ONCE, DockerBackend
from fencepost.harness.backends.docker.containers import Containers
from fencepost.harness.backends.docker.dialling import dial_inside, sock_diag_inside
from fencepost.harness.backends.docker.networks import PodNetwork
from fencepost.harness.backends.docker.node_containers import NodeContainers
from fencepost.harness.backends.docker.pod import Pod, api_of
from fencepost.harness.backends.environment import EnvironmentSpec
from fencepost.harness.backends.process import ProcessBackend
from fencepost.harness.network.addresses import Addresses, Endpoint
from fencepost.harness.network.layout import Layout, Node, Proxy
from fencepost.harness.network.lease import Lease
from fencepost.harness.network.links import dial, sock_diag_here
from fencepost.harness.network.server import await_version, server_command
from fencepost.harness.network.toxiproxy import Toxiproxy

SITES = "toxiproxy"
PODS = "pods"
"""The folder of a run with what each pod shares with the harness."""


@dataclass(frozen=True)
class PodAddresses(Addresses):
    """Those of processes, but for the nodes themselves: they are where their pods are."""

    range: str
    """`10.213.60`: the first three numbers of the network."""

    def node(self, index: int) -> str:
        return f"{self.range}.{super().node(index).rpartition('.')[2]}"


class PodEnvironment:
    """Implements `Environment`."""

    layout: Layout
    backend: DockerBackend
    containers: NodeContainers

    def __init__(self, spec: EnvironmentSpec) -> None:
        self._spec = spec
        self._stack = ExitStack()
        self._broken: list[str] = []
        self._pods: dict[str, Pod] = {}
        self._sources: dict[str, str] = {}

    def __enter__(self) -> Self:
        folder, lay_out = self._spec.folder, self._spec.lay_out
        with self._stack as stack:
            lease = Lease.acquire(folder.path, lambda addresses: on_this_machine(lay_out(addresses)))
            stack.callback(lease.release)
            tag = f"fencepost-{lease.addresses.k}-{secrets.token_hex(3)}"
            network = stack.enter_context(PodNetwork(folder.path, tag, lease.addresses.k))
            self.layout = lay_out(PodAddresses(lease.addresses.k, network.range))
            machine = ProcessBackend(folder.processes, folder.logs, self._machine_exited)
            self._machine = machine
            stack.callback(machine.stop_all)
            self._sites = Toxiproxy(self.layout.addresses.toxiproxy, log=machine.log(SITES))
            machine.start(SITES, server_command(self._sites.api))
            containers = Containers(folder.path)
            stack.callback(containers.sweep)
            stack.callback(self._remove_pods, containers)
            self._start_pods(containers, tag, network.name)
            self.backend = DockerBackend(folder, containers, tag, lambda node: self._pods[node].id, self._spec.on_exit)
            stack.callback(self.backend.stop_all)
            self.containers = NodeContainers(network, self._pod, self.backend.container_of)
            await_version(self._sites)
            self._sites.populate(_site_links(self.layout))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def server(self, proxy: Proxy) -> Toxiproxy:
        source = self._sources.get(proxy.name)
        return self._sites if source is None else self._pods[source].toxiproxy

    def connect(self, proxy: Proxy, timeout: float) -> socket.socket:
        source = self._sources.get(proxy.name)
        if source is None:
            return dial(proxy, timeout)
        return dial_inside(self._pods[source].folder, proxy.listen, timeout)

    def dial(self, node: Node, port: int, timeout: float) -> socket.socket:
        return dial_inside(self._pods[node.name].folder, Endpoint(node.address, port), timeout)

    def sock_diag(self, proxy: Proxy) -> socket.socket:
        source = self._sources.get(proxy.name)
        return sock_diag_here(proxy) if source is None else sock_diag_inside(self._pods[source].folder)

    def broken(self) -> list[str]:
        return self._broken

    def _pod(self, node: str) -> Pod:
        self.layout.node(node)
        return self._pods[node]

    def _start_pods(self, containers: Containers, tag: str, network: str) -> None:
        shared = self._spec.folder.path / PODS
        shared.mkdir()
        for node in self.layout.nodes:
            self._pods[node.name] = Pod(node, self.layout, shared / node.name, self._spec.folder, self._broken.append)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                starts = [pool.submit(pod.start, containers, tag, network) for pod in self._pods.values()]
                for start in starts:
                    start.result()
            except BaseException:  # removal must see every container, so wait until no start is under way
                pool.shutdown(cancel_futures=True)
                raise
        for node in self.layout.nodes:
            self._sources |= {proxy.name: node.name for proxy in links_from(self.layout, node)}

    def _remove_pods(self, containers: Containers) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            removals = [pool.submit(pod.remove, containers) for pod in self._pods.values()]
        for removal in removals:
            removal.result()

    def _machine_exited(self, name: str, exit_code: int) -> None:
        self._broken.append(self._machine.exit_summary(name))


def links_from(layout: Layout, node: Node) -> Iterator[Proxy]:
    """The proxies of a node's pod: of every link that begins at it."""
    for peer in layout.nodes:
        if peer != node:
            yield from layout.proxies(node.name, peer.name)


def _site_links(layout: Layout) -> list[Proxy]:
    inner = {proxy.name for node in layout.nodes for proxy in links_from(layout, node)}
    return [proxy for proxy in layout.links() if proxy.name not in inner]


def on_this_machine(layout: Layout) -> list[Endpoint]:
    """Return the endpoints of a cluster on the machine itself; the others are in its private networks."""
    apis = (api_of(layout, node) for node in layout.nodes)
    return [layout.addresses.toxiproxy, *apis, *(proxy.listen for proxy in _site_links(layout))]
