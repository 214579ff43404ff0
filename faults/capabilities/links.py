"""Directed links between nodes, and from client sites to nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Stream(Enum):
    """One half of a link's connections."""

    REQUESTS = "requests"
    """From the side that opened the connection (Toxiproxy: upstream)."""
    REPLIES = "replies"
    """Back to it (Toxiproxy: downstream)."""


class Reach(Enum):
    """What a round trip through one link met, as seen by whoever dials the address that the source dials."""

    ANSWERED = "answered"
    SILENT = "silent"
    """Connected, but no answer in time: stalled, or the destination is paused."""
    CLOSED = "closed"
    """Connected and closed again: nobody listens behind the link."""
    REFUSED = "refused"
    """The link itself is down."""


@dataclass(frozen=True)
class LinkState:
    """What the proxy reports of itself: no measurement, but it tells the streams apart."""

    enabled: bool
    stalled: frozenset[Stream] = frozenset()
    alike: bool = True
    """Of a link that several proxies make up: whether all of them are so."""


class Links(Protocol):
    """Break and measure directed links."""

    def stall(self, source: str, destination: str, streams: frozenset[Stream]) -> None:
        """Hold back all bytes of these streams. They arrive after `restore`, and the connections live on."""

    def cut(self, source: str, destination: str) -> None:
        """End open connections and refuse new ones. Works on paused nodes too."""

    def restore(self, source: str, destination: str) -> None:
        """Neither cut nor stalled any more."""

    def state(self, source: str, destination: str) -> LinkState: ...

    def reach(self, source: str, destination: str, timeout: float) -> Reach:
        """Make one real round trip (ApiVersions, or what ZooKeeper answers) through this link's proxy. Seconds."""
