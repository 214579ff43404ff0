"""The links of a cluster, broken and measured through its Toxiproxy."""

from __future__ import annotations

from collections.abc import Callable

from faults.capabilities import CapabilityError, LinkState, Reach, Stream
from harness.network.layout import SITE_PREFIX, Layout
from harness.network.roundtrip import round_trip
from harness.network.toxiproxy import Toxiproxy


class ToxiproxyLinks:
    """Implements `faults.capabilities.Links`. What is done to a link is done to each of its proxies.

    `is_paused` tells whether a node is stopped now. Toxiproxy cannot add or remove a stall while a receiver does not
    read: it answers after 25 s and acts later. So that is refused here; `cut` always works.
    """

    def __init__(self, layout: Layout, toxiproxy: Toxiproxy, is_paused: Callable[[str], bool]) -> None:
        self._layout = layout
        self._toxiproxy = toxiproxy
        self._is_paused = is_paused

    def stall(self, source: str, destination: str, streams: frozenset[Stream]) -> None:
        for name in self._names(source, destination):
            for stream in streams - self._toxiproxy.state(name).stalled:
                self._refuse_if_paused("stall", source, destination)
                self._toxiproxy.stall(name, stream)

    def cut(self, source: str, destination: str) -> None:
        for name in self._names(source, destination):
            if self._toxiproxy.state(name).enabled:
                self._toxiproxy.enable(name, False)

    def restore(self, source: str, destination: str) -> None:
        for name in self._names(source, destination):
            state = self._toxiproxy.state(name)
            for stream in state.stalled:
                self._refuse_if_paused("unstall", source, destination)
                self._toxiproxy.flow(name, stream)
            if not state.enabled:
                self._toxiproxy.enable(name, True)

    def state(self, source: str, destination: str) -> LinkState:
        states = [self._toxiproxy.state(name) for name in self._names(source, destination)]
        return LinkState(
            enabled=all(state.enabled for state in states),
            stalled=frozenset().union(*(state.stalled for state in states)),
            alike=len(set(states)) == 1,
        )

    def reach(self, source: str, destination: str, timeout: float) -> Reach:
        return round_trip(self._layout.link(source, destination).listen, timeout).reach

    def _names(self, source: str, destination: str) -> list[str]:
        return [proxy.name for proxy in self._layout.proxies(source, destination)]

    def _refuse_if_paused(self, what: str, source: str, destination: str) -> None:
        for end in (source, destination):
            if not end.startswith(SITE_PREFIX) and self._is_paused(end):
                raise CapabilityError(
                    f"cannot {what} the link from {source} to {destination} while {end} is paused: "
                    f"do it before the pause or after it, or cut the link"
                )
