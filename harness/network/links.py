"""The links of a cluster, broken and measured through its Toxiproxy."""

from __future__ import annotations

from collections.abc import Callable

from faults.capabilities import CapabilityError, LinkState, Reach, Stream
from harness.network.layout import SITE_PREFIX, Layout
from harness.network.roundtrip import round_trip
from harness.network.toxiproxy import Toxiproxy


class ToxiproxyLinks:
    """Implements `faults.capabilities.Links`.

    `is_paused` tells whether a node is stopped now. Toxiproxy cannot add or remove a stall while a receiver does not
    read: it answers after 25 s and acts later. So that is refused here; `cut` always works.
    """

    def __init__(self, layout: Layout, toxiproxy: Toxiproxy, is_paused: Callable[[str], bool]) -> None:
        self._layout = layout
        self._toxiproxy = toxiproxy
        self._is_paused = is_paused

    def stall(self, source: str, destination: str, streams: frozenset[Stream]) -> None:
        state = self.state(source, destination)
        for stream in streams - state.stalled:
            self._refuse_if_paused("stall", source, destination)
            self._toxiproxy.stall(self._name(source, destination), stream)

    def cut(self, source: str, destination: str) -> None:
        if self.state(source, destination).enabled:
            self._toxiproxy.enable(self._name(source, destination), False)

    def restore(self, source: str, destination: str) -> None:
        state = self.state(source, destination)
        for stream in state.stalled:
            self._refuse_if_paused("unstall", source, destination)
            self._toxiproxy.flow(self._name(source, destination), stream)
        if not state.enabled:
            self._toxiproxy.enable(self._name(source, destination), True)

    def state(self, source: str, destination: str) -> LinkState:
        return self._toxiproxy.state(self._name(source, destination))

    def reach(self, source: str, destination: str, timeout: float) -> Reach:
        return round_trip(self._layout.link(source, destination).listen, timeout).reach

    def _name(self, source: str, destination: str) -> str:
        return self._layout.link(source, destination).name

    def _refuse_if_paused(self, what: str, source: str, destination: str) -> None:
        for end in (source, destination):
            if not end.startswith(SITE_PREFIX) and self._is_paused(end):
                raise CapabilityError(
                    f"cannot {what} the link from {source} to {destination} while {end} is paused: "
                    f"do it before the pause or after it, or cut the link"
                )
