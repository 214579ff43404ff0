"""What the nodes of one cluster stand on: addresses, links that can be broken, and a backend that runs them."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from faults.capabilities import Containers
from harness.backends import DOCKER
from harness.backends.backend import Backend, OnExit
from harness.network.addresses import Addresses
from harness.network.layout import Layout, Proxy
from harness.network.toxiproxy import Toxiproxy
from harness.targets.target import Target
from results.records.folder import RunFolder

LayOut = Callable[[Addresses], Layout]
"""The layout of a plan, once its addresses are known."""


class Premises(Protocol):
    """Entered, all links are open and no node runs yet; left, nothing of it is there any more."""

    @property
    def layout(self) -> Layout: ...

    @property
    def backend(self) -> Backend:
        """Runs the nodes."""

    @property
    def containers(self) -> Containers: ...

    def server(self, proxy: Proxy) -> Toxiproxy:
        """The Toxiproxy in which a proxy lives."""

    def connect(self, proxy: Proxy, timeout: float) -> socket.socket:
        """Dial a proxy as its source does."""

    def sock_diag(self, proxy: Proxy) -> socket.socket:
        """Where the kernel tells about the connections of a proxy."""

    def broken(self) -> list[str]:
        """Sentences about what ended of it that nobody ended: then the run says nothing."""


@dataclass(frozen=True)
class Ordered:
    """What premises are made for."""

    folder: RunFolder
    lay_out: LayOut
    on_exit: OnExit
    """Told of nodes that end by themselves."""


def premises(backend: str, ordered: Ordered) -> AbstractContextManager[Premises]:
    """Of the backend of that name, to be entered."""
    if backend == DOCKER:
        from harness.backends.docker.premises import Pods

        return Pods(ordered)
    from harness.backends.local import Machine

    return Machine(ordered)


def prepare(backend: str, target: Target) -> None:
    """All that takes minutes the first time, and nothing later: what a target fetches, and images to run it in."""
    target.prepare()
    if backend == DOCKER:
        from harness.backends.docker.prepare import prepare_images

        prepare_images(target)
