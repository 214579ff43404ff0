"""The environment of a cluster of processes: loopback addresses of this machine, and one Toxiproxy for all links."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from types import TracebackType
from typing import NoReturn, Self

from fencepost.faults.capabilities import CapabilityError, Limits
from fencepost.harness.backends.environment import EnvironmentSpec
from fencepost.harness.backends.process import ProcessBackend
from fencepost.harness.network.accept_delay import accept_delay_command, await_accept_delay
from fencepost.harness.network.layout import Layout, Node, Proxy
from fencepost.harness.network.lease import Lease
from fencepost.harness.network.links import dial, sock_diag_here
from fencepost.harness.network.server import await_version, server_command
from fencepost.harness.network.toxiproxy import Toxiproxy

TOXIPROXY, ACCEPT_DELAY = "toxiproxy", "accept-delay"


class NoContainers:
    """Implements `fencepost.faults.capabilities.Containers` with an error: only plans for containers need it."""

    def disconnect(self, node: str) -> None:
        self._refuse(node)

    def connect(self, node: str) -> None:
        self._refuse(node)

    def address(self, node: str) -> str | None:
        self._refuse(node)

    def limit_memory(self, node: str, bytes_: int | None) -> None:
        self._refuse(node)

    def limit_cpus(self, node: str, cpus: float | None) -> None:
        self._refuse(node)

    def limits(self, node: str) -> Limits:
        self._refuse(node)

    def spin(self, node: str, seconds: float) -> None:
        self._refuse(node)

    def _refuse(self, node: str) -> NoReturn:
        raise CapabilityError(
            f"{node} is a process, which has no network and no limits of its own: run the plan with --backend docker"
        )


class LocalEnvironment:
    """Implements `Environment`."""

    layout: Layout
    backend: ProcessBackend
    containers = NoContainers()

    def __init__(self, spec: EnvironmentSpec) -> None:
        self._spec = spec
        self._stack = ExitStack()
        self._broken: list[str] = []

    def __enter__(self) -> Self:
        folder, lay_out = self._spec.folder, self._spec.lay_out
        with self._stack as stack:
            lease = Lease.acquire(folder.path, lambda addresses: lay_out(addresses).listeners())
            stack.callback(lease.release)
            self.layout = lay_out(lease.addresses)
            self.backend = ProcessBackend(folder.processes, folder.logs, self._exited)
            stack.callback(self.backend.stop_all)
            self._toxiproxy = Toxiproxy(self.layout.addresses.toxiproxy, log=self.backend.log(TOXIPROXY))
            self.backend.start(TOXIPROXY, server_command(self._toxiproxy.api))
            if proxies := self.layout.accept_delay_proxies():
                await_accept_delay(proxies, self.backend.start(ACCEPT_DELAY, accept_delay_command(proxies)).pid)
            await_version(self._toxiproxy)
            self._toxiproxy.populate(self.layout.links())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def server(self, proxy: Proxy) -> Toxiproxy:
        return self._toxiproxy

    def connect(self, proxy: Proxy, timeout: float) -> socket.socket:
        return dial(proxy, timeout)

    def dial(self, node: Node, port: int, timeout: float) -> socket.socket:
        return socket.create_connection((node.address, port), timeout)

    def sock_diag(self, proxy: Proxy) -> socket.socket:
        return sock_diag_here(proxy)

    def broken(self) -> list[str]:
        return self._broken

    def _exited(self, name: str, exit_code: int) -> None:
        if name in (TOXIPROXY, ACCEPT_DELAY):
            self._broken.append(self.backend.exit_summary(name))
        else:
            self._spec.on_exit(name, exit_code)
