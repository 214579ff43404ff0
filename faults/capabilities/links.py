"""Directed links between nodes, and from client sites to nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Stream(Enum):
    """One half of a link's connections."""

    REQUESTS = "requests"
    """From the side that opened the connection (Toxiproxy: upstream)."""
    REPLIES = "replies"
    """Back to it (Toxiproxy: downstream)."""


BOTH = frozenset(Stream)


class Harm(Enum):
    """The treatment of the bytes of a stream by a link."""

    STALL = "stall"
    """Holds them, and the end of the connection; both arrive once it is gone, and until then the connection lives."""
    BLACKHOLE = "blackhole"
    """Drops them. The connection stands, though its sender ends it, and is closed when the harm is gone."""
    LATENCY = "latency"
    """Delivers each of them so many milliseconds later."""
    BANDWIDTH = "bandwidth"
    """Delivers so many thousand a second, on each connection."""
    RESET = "reset"
    """Ends the connection, idle or not: an open one by its orderly end, a new one by RST."""
    LIMIT = "limit"
    """Delivers so many of each connection, those that are open counted from now, and ends it."""


@dataclass(frozen=True)
class Toxic:
    """A harm on one stream of a link. `amount`: see `Harm`; 0 where there is none."""

    harm: Harm
    stream: Stream
    amount: int = 0

    def __str__(self) -> str:
        return f"{self.harm.value} {self.amount} of {self.stream.value}".replace(" 0 of", " of")


class ProbeResult(Enum):
    """The result of a round trip through one link, as seen by a client of the address that the source dials."""

    ANSWERED = "answered"
    SILENT = "silent"
    """Connected, but no answer in time: stalled, or the destination is paused."""
    CLOSED = "closed"
    """Connected and closed again: no process listens behind the link."""
    RESET = "reset"
    """Connected and ended by RST."""
    REFUSED = "refused"
    """The link itself is down."""


@dataclass(frozen=True)
class RoundTrip:
    reach: ProbeResult
    elapsed_ms: float
    closes: bool = False
    """True if a server like this one ends the connection once it has answered: an end without an answer then means
    that the answer was dropped on the way, or that the server is gone."""


@dataclass(frozen=True)
class Transfer:
    """The result of an attempt to send bytes through one stream."""

    reach: ProbeResult
    """ANSWERED: all of them passed; else the end of the attempt."""
    asked: int
    """The number of bytes that were to pass."""
    passed: int
    """The number of bytes that are known to have passed: of requests those that were answered."""
    trips: int
    """The number of waits for an answer before more was sent."""
    elapsed_ms: float


@dataclass(frozen=True)
class LinkState:
    """The state that the proxy reports: no measurement, but it distinguishes the streams."""

    enabled: bool
    toxics: frozenset[Toxic] = frozenset()
    alike: bool = True
    """False for a link of several proxies that differ."""

    @property
    def stalled(self) -> frozenset[Stream]:
        return frozenset(toxic.stream for toxic in self.toxics if toxic.harm is Harm.STALL)


HEALTHY = LinkState(enabled=True)
CUT = LinkState(enabled=False)


class OpenConnection(Protocol):
    """A connection through a link that was opened before anything happened to it."""

    def ask(self) -> None:
        """Send a request, unless one is unanswered. If it cannot be sent, `fate` reports that."""

    def fate(self, timeout: float) -> ProbeResult:
        """Return the state of the connection now, or within `timeout` seconds: ANSWERED if the last request was and
        it has not ended since."""

    def close(self) -> None: ...


class Links(Protocol):
    """Break and measure directed links."""

    def harm(self, source: str, destination: str, toxics: frozenset[Toxic]) -> None:
        """Put these on the link. CapabilityError if an end of it is paused: then only `cut` works."""

    def cut(self, source: str, destination: str) -> None:
        """End open connections and refuse new ones. Works on paused nodes too."""

    def restore(self, source: str, destination: str) -> None:
        """Remove the cut and all harms."""

    def state(self, source: str, destination: str) -> LinkState: ...

    def reach(self, source: str, destination: str, timeout: float) -> ProbeResult:
        """Make one real round trip (ApiVersions, or what ZooKeeper answers) through this link's proxy. Seconds."""

    def round_trip(self, source: str, destination: str, timeout: float) -> RoundTrip:
        """As `reach`, with the time it took."""

    def transfer(
        self, source: str, destination: str, stream: Stream, size: int, timeout: float, *, at_once: bool = False
    ) -> Transfer:
        """Bring so many bytes through one stream: of requests just as many, or the smallest there is; of replies as
        many at least.

        On a new connection, with one request after the other or, but for the first, all `at_once`. CapabilityError
        where what listens at the link's end does not lend itself to it.
        """

    def hold(self, source: str, destination: str, timeout: float) -> OpenConnection | None:
        """Open a connection and have it answer once. None if it gets no answer, or if the
        server keeps no connection open."""

    def taken(self, source: str, destination: str) -> Mapping[str, int]:
        """Return the bytes that the link has taken from each connection that its source opened and that the link has
        not closed, passed on or not, by the address that they come from. Raise CapabilityError if the kernel does not
        report it."""

    def cut_short(self, source: str, destination: str) -> Mapping[str, int]:
        """Return the bytes of requests that the destination was given, by the address that they come from, of
        connections that have ended and whose destination did not take all that the link had taken."""
