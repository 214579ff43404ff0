"""The capabilities of a cluster, the evidence of a measurement, and the error of a cluster that lacks a capability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class CapabilityError(Exception):
    """The cluster could not do what a fault requested; the message says what, where, and what to do."""


class Capability(Enum):
    """Named by targets (`capabilities:`) and by each fault."""

    KILL = "kill"
    PAUSE = "pause"
    LINKS = "links"
    DUPLICATE = "duplicate"
    LOG_DIRS = "log-dirs"
    """Several log directories, each of which can fail alone."""
    TERMINATE = "terminate"
    """SIGTERM, and a node that ends by itself."""
    DIRECTORIES = "directories"
    """The contents of a node's disk at its next start: nothing, an old copy, another node's."""
    IDENTITY = "identity"
    """The id and the cluster that a node claims at its next start."""
    DISKS = "disks"
    """Errors, delays and losses of single operations on files, switched at run time."""
    HELD_BYTES = "held-bytes"
    """Bytes that a link holds are counted."""
    MESSAGES = "messages"
    """Single messages of Kafka on links are lost, late, or repeated."""
    CLOCK = "clock"
    """The wall clock that a node reads."""
    NETWORK = "network"
    """A container is taken off its network."""
    RESOURCES = "resources"
    """Limits of memory and processor for a running container."""
    CERTIFICATES = "certificates"
    """The certificates of listeners with TLS."""
    USERS = "users"
    """Users of listeners with logins are changed while nodes run."""


@dataclass(frozen=True)
class Evidence:
    """A measurement, and whether it proves the claim. `measured` is journalled as it is: JSON only.

    `how` says how the claim is proven; of a claim that is not, `missed` says what was found in place of it.
    """

    proven: bool
    how: str
    measured: Mapping[str, object]
    missed: str = ""

    @classmethod
    def against(cls, missed: str, measured: Mapping[str, object] | None = None) -> Evidence:
        """Return the evidence that the claim is not so."""
        return cls(False, missed, measured or {}, missed)

    @property
    def shortfall(self) -> str:
        """Why the claim is not proven, in words that say nothing of it as if it were so."""
        return self.missed or f"this was not seen: {self.how}"
