"""The links of a cluster, broken and measured through the Toxiproxies in which their proxies live."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from functools import partial

from fencepost.faults.capabilities import (
    CapabilityError,
    Harm,
    LinkState,
    OpenConnection,
    ProbeResult,
    RoundTrip,
    Stream,
    Toxic,
    Transfer,
)
from fencepost.harness.network.layout import SITE_PREFIX, Layout, Proxy
from fencepost.harness.network.roundtrip import round_trip
from fencepost.harness.network.tcp_info import received, sock_diag
from fencepost.harness.network.toxiproxy import Toxiproxy
from fencepost.harness.network.transfer import hold, transfer

Connect = Callable[[Proxy, float], socket.socket]
"""Open a connection through a proxy, as its source does; seconds until TimeoutError."""


SockDiag = Callable[[Proxy], socket.socket]
"""Return a sock_diag socket of the network in which a proxy listens."""


def dial(proxy: Proxy, timeout: float) -> socket.socket:
    return socket.create_connection(proxy.listen, timeout)


def sock_diag_here(proxy: Proxy) -> socket.socket:
    return sock_diag()


def _place(toxic: Toxic) -> tuple[int, int]:
    """Return the order of a toxic in a link. It matters: a bandwidth delay hides a latency behind it."""
    return list(Harm).index(toxic.harm), list(Stream).index(toxic.stream)


class ToxiproxyLinks:
    """Implements `fencepost.faults.capabilities.Links`. What is done to a link is done to each of its proxies.

    `server` tells in which Toxiproxy a proxy lives: one for a whole cluster, or one for each source. `is_paused` tells
    whether a node is stopped now. Toxiproxy cannot add or remove a toxic while a receiver does not read: it answers
    after 25 s and acts later. So that is refused here; `cut` always works. `connect` and `sock_diag` are for clusters
    whose addresses are not this machine's.
    """

    def __init__(
        self,
        layout: Layout,
        server: Callable[[Proxy], Toxiproxy],
        is_paused: Callable[[str], bool],
        connect: Connect = dial,
        sock_diag: SockDiag = sock_diag_here,
    ) -> None:
        self._layout = layout
        self._server = server
        self._is_paused = is_paused
        self._connect = connect
        self._sock_diag = sock_diag

    def harm(self, source: str, destination: str, toxics: frozenset[Toxic]) -> None:
        for proxy in self._layout.proxies(source, destination):
            server = self._server(proxy)
            for toxic in sorted(toxics - server.state(proxy.name).toxics, key=_place):
                self._refuse_if_paused("harm", source, destination)
                server.add(proxy.name, toxic)

    def cut(self, source: str, destination: str) -> None:
        for proxy in self._layout.proxies(source, destination):
            server = self._server(proxy)
            if server.state(proxy.name).enabled:
                server.enable(proxy.name, False)

    def restore(self, source: str, destination: str) -> None:
        for proxy in self._layout.proxies(source, destination):
            server = self._server(proxy)
            state = server.state(proxy.name)
            for toxic in state.toxics:
                self._refuse_if_paused("mend", source, destination)
                server.remove(proxy.name, toxic)
            if not state.enabled:
                server.enable(proxy.name, True)

    def state(self, source: str, destination: str) -> LinkState:
        proxies = self._layout.proxies(source, destination)
        states = [self._server(proxy).state(proxy.name) for proxy in proxies]
        return LinkState(
            enabled=all(state.enabled for state in states),
            toxics=frozenset().union(*(state.toxics for state in states)),
            alike=len(set(states)) == 1,
        )

    def reach(self, source: str, destination: str, timeout: float) -> ProbeResult:
        return self.round_trip(source, destination, timeout).reach

    def round_trip(self, source: str, destination: str, timeout: float) -> RoundTrip:
        proxy = self._layout.link(source, destination)
        return round_trip(proxy.listen, timeout, partial(self._connect, proxy), proxy.question)

    def transfer(
        self, source: str, destination: str, stream: Stream, size: int, timeout: float, *, at_once: bool = False
    ) -> Transfer:
        proxy = self._layout.link(source, destination)
        return transfer(partial(self._connect, proxy), proxy.listen.port, stream, size, timeout, at_once=at_once)

    def hold(self, source: str, destination: str, timeout: float) -> OpenConnection | None:
        proxy = self._layout.link(source, destination)
        return hold(partial(self._connect, proxy), proxy.listen.port, timeout)

    def taken(self, source: str, destination: str) -> Mapping[str, int]:
        ends = {proxy.listen for proxy in self._layout.proxies(source, destination)}
        with self._sock_diag(self._layout.link(source, destination)) as kernel:
            return {
                str(connection.remote): connection.bytes for connection in received(kernel) if connection.local in ends
            }

    def cut_short(self, source: str, destination: str) -> Mapping[str, int]:
        proxies = self._layout.proxies(source, destination)
        return {address: n for proxy in proxies for address, n in self._server(proxy).cut_short(proxy.name).items()}

    def _refuse_if_paused(self, what: str, source: str, destination: str) -> None:
        for end in (source, destination):
            if not end.startswith(SITE_PREFIX) and self._is_paused(end):
                raise CapabilityError(
                    f"cannot {what} the link from {source} to {destination} while {end} is paused: "
                    f"do it before the pause or after it, or cut the link"
                )
