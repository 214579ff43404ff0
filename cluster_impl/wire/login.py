"""Names and passwords of logins, and the errors and principals that mechanisms share."""

from __future__ import annotations

from dataclasses import dataclass, field
from ssl import SSLContext

ANONYMOUS = "User:ANONYMOUS"
"""The principal of a client on a listener without authentication."""

PLAIN = "PLAIN"


def user_principal(name: str) -> str:
    """Return the principal of a user in Kafka's text form."""
    return f"User:{name}"


@dataclass(frozen=True, slots=True)
class PlainLogin:
    """The name and the password of a user."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """How one side connects to the other: with which login and mechanism, and over which TLS."""

    login: PlainLogin | None = None
    tls: SSLContext | None = None
    mechanism: str = PLAIN


class AuthenticationFailed(Exception):
    """A token that authenticates no user. The message is for the log: the client learns no more than that it failed."""
