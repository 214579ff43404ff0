"""The certificates that nodes show, and the users that brokers let in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Certificate(Enum):
    """A certificate for the names and addresses of a node."""

    OWN = "own"
    """The one with which the node was set up."""
    EXPIRED = "expired"
    """One of the cluster's authority, and valid until yesterday."""
    FOREIGN = "foreign"
    """One of an authority that neither nodes nor clients trust."""
    RENEWED = "renewed"
    """One of the cluster's authority, with another key."""


@dataclass(frozen=True)
class Shown:
    """A certificate that a node showed in a handshake.

    `refused`: why a client that trusts the cluster's authority refuses it, None if it trusts it.
    """

    fingerprint: str
    refused: str | None


class Certificates(Protocol):
    """Give nodes certificates; CapabilityError for nodes of a cluster without TLS."""

    def give(self, node: str, certificate: Certificate) -> None:
        """Write one in place of that in the node's files. Its process goes on with the one that it has read."""

    def held(self, node: str) -> str:
        """Return the fingerprint of the one in its files."""

    def read_anew(self, node: str) -> None:
        """Ask a broker that runs to read its files again, as an administrator does: by a setting of its listeners."""

    def forget(self, node: str) -> None:
        """Take that setting away, upon which the broker reads its files again, too."""

    def shown(self, node: str) -> Shown | None:
        """Return the one that the node shows to clients; None if it answers no handshake."""


class Users(Protocol):
    """Change the users that brokers let in on the listener of clients; CapabilityError where there are no logins."""

    def change(self, user: str, password: str | None) -> None:
        """Give a user another password, by requests of an administrator; None removes the user."""

    def restore(self, user: str) -> None:
        """Give a user back the password of the beginning."""

    def let_in(self, user: str, password: str | None = None) -> Mapping[str, bool]:
        """Log in at each broker; return whether it let the user in. Without `password` with that of the beginning."""
