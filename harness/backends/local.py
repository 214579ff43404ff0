"""The premises of a cluster of processes: a block of this machine's loopback addresses, and one Toxiproxy for all."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from harness.backends.no_containers import NoContainers
from harness.backends.premises import Ordered
from harness.backends.process import ProcessBackend
from harness.network.doors import await_doors, doors_command
from harness.network.layout import Layout, Proxy
from harness.network.lease import Lease
from harness.network.links import dial, sock_diag_here
from harness.network.server import await_version, server_command
from harness.network.toxiproxy import Toxiproxy

TOXIPROXY, DOORS = "toxiproxy", "doors"


class Machine:
    """Implements `Premises`."""

    layout: Layout
    backend: ProcessBackend
    containers = NoContainers()

    def __init__(self, ordered: Ordered) -> None:
        self._ordered = ordered
        self._stack = ExitStack()
        self._broken: list[str] = []

    def __enter__(self) -> Self:
        folder, lay_out = self._ordered.folder, self._ordered.lay_out
        with self._stack as stack:
            lease = Lease.acquire(folder.path, lambda addresses: lay_out(addresses).listeners())
            stack.callback(lease.release)
            self.layout = lay_out(lease.addresses)
            self.backend = ProcessBackend(folder.processes, folder.logs, self._exited)
            stack.callback(self.backend.stop_all)
            self._toxiproxy = Toxiproxy(self.layout.addresses.toxiproxy)
            self.backend.start(TOXIPROXY, server_command(self._toxiproxy.api))
            if doors := self.layout.doors():
                await_doors(doors, self.backend.start(DOORS, doors_command(doors)).pid)
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

    def sock_diag(self, proxy: Proxy) -> socket.socket:
        return sock_diag_here(proxy)

    def broken(self) -> list[str]:
        return self._broken

    def _exited(self, name: str, exit_code: int) -> None:
        if name in (TOXIPROXY, DOORS):
            self._broken.append(self.backend.obituary(name))
        else:
            self._ordered.on_exit(name, exit_code)
