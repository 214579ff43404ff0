"""SASL/PLAIN as in Kafka's protocol, both sides of it, without any I/O.

A client names a mechanism (SaslHandshake) and then authenticates (SaslAuthenticate). After version 0 of the handshake
the token is a frame of its own without a header, and so is the empty response.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

PLAIN = "PLAIN"
LARGEST_UNAUTHENTICATED_FRAME = 512 * 1024
"""As in Kafka (sasl.server.max.receive.size): a client cannot fill the memory before it has authenticated."""


ANONYMOUS = "User:ANONYMOUS"
"""The principal of a client on a listener without authentication."""


def user_principal(name: str) -> str:
    """Return the principal of a user in Kafka's text form."""
    return f"User:{name}"


@dataclass(frozen=True, slots=True)
class PlainLogin:
    """The name and the password that one side of a connection gives to the other."""

    username: str
    password: str = field(repr=False)


class AuthenticationFailed(Exception):
    """A token that authenticates no user. The message is for the log: the client learns no more than that it failed."""


def plain_token(login: PlainLogin) -> bytes:
    """RFC 4616: an empty authorization id, the name, the password."""
    return f"\0{login.username}\0{login.password}".encode()


class PlainUsers:
    """The users of a listener, with their passwords."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = passwords

    def principal(self, token: bytes) -> str:
        """Return the principal that the token authenticates. Raises AuthenticationFailed."""
        parts = token.split(b"\0")
        if len(parts) != 3:
            raise AuthenticationFailed("the token is not one of PLAIN")
        try:
            authorization, name, password = (part.decode() for part in parts)
        except UnicodeDecodeError:
            raise AuthenticationFailed("the token is not UTF-8") from None
        if not name or not password:
            raise AuthenticationFailed("the token lacks a name or a password")
        if authorization not in ("", name):
            raise AuthenticationFailed(f"{name} asks for the rights of {authorization}; only its own are supported")
        expected = self._passwords.get(name)
        if expected is None or not hmac.compare_digest(expected.encode(), password.encode()):
            raise AuthenticationFailed(f"the name {name!r} or its password is wrong")
        return user_principal(name)


class _Awaits(Enum):
    HANDSHAKE = "handshake"
    AUTHENTICATE = "authenticate"
    BARE_TOKEN = "bare token"
    NOTHING = "nothing"


class ServerExchange:
    """The server's side of the authentication of one connection.

    Once `failure` is set (a message), the connection must be closed after the last response was sent.
    """

    def __init__(self, users: PlainUsers) -> None:
        self.principal: str | None = None
        """Set once the client has authenticated."""
        self.failure: str | None = None
        self._users = users
        self._awaits = _Awaits.HANDSHAKE

    @property
    def awaits_bare_token(self) -> bool:
        """True if the next frame is a token and no request."""
        return self._awaits is _Awaits.BARE_TOKEN

    def handshake(self, request: m.SaslHandshakeRequest, version: int) -> m.SaslHandshakeResponse:
        if self._awaits is not _Awaits.HANDSHAKE:
            self._fail("a SaslHandshake came out of turn")
            return m.SaslHandshakeResponse(error_code=Error.ILLEGAL_SASL_STATE, mechanisms=[PLAIN])
        if request.mechanism != PLAIN:
            self._fail(f"the client asks for the SASL mechanism {request.mechanism!r}, and only {PLAIN} is enabled")
            return m.SaslHandshakeResponse(error_code=Error.UNSUPPORTED_SASL_MECHANISM, mechanisms=[PLAIN])
        self._awaits = _Awaits.AUTHENTICATE if version > 0 else _Awaits.BARE_TOKEN
        return m.SaslHandshakeResponse(mechanisms=[PLAIN])

    def authenticate(self, request: m.SaslAuthenticateRequest) -> m.SaslAuthenticateResponse:
        if self._awaits is not _Awaits.AUTHENTICATE:
            self._fail("a SaslAuthenticate came out of turn")
            return m.SaslAuthenticateResponse(
                error_code=Error.ILLEGAL_SASL_STATE, error_message="SaslAuthenticate follows a SaslHandshake, once"
            )
        self._take(request.auth_bytes)
        if self.failure is None:
            return m.SaslAuthenticateResponse()
        return m.SaslAuthenticateResponse(
            error_code=Error.SASL_AUTHENTICATION_FAILED,
            error_message="Authentication failed: Invalid username or password",
        )

    def bare_token(self, token: bytes) -> None:
        """Take a token that came without a header; the response to an accepted one is an empty frame."""
        self._take(token)

    def _take(self, token: bytes) -> None:
        self._awaits = _Awaits.NOTHING
        try:
            self.principal = self._users.principal(token)
        except AuthenticationFailed as error:
            self._fail(str(error))

    def _fail(self, reason: str) -> None:
        """Set `failure`, unless the client has authenticated already: then it gets an error and stays connected."""
        if self.principal is None:
            self.failure = f"authentication failed: {reason}"
