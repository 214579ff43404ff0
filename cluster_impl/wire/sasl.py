"""SASL as in Kafka's protocol, both sides of it, without any I/O: PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.

A client names a mechanism (SaslHandshake) and then authenticates (SaslAuthenticate), by one token or several. After
version 0 of the handshake the tokens are frames of their own without a header, and so are the answers.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Protocol

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.login import PLAIN, AuthenticationFailed, PlainLogin, user_principal
from fencepost.cluster_impl.wire.scram import ScramServer, ScramUsers

LARGEST_UNAUTHENTICATED_FRAME = 512 * 1024
"""As in Kafka (sasl.server.max.receive.size): a client cannot fill the memory before it has authenticated."""


def plain_token(login: PlainLogin) -> bytes:
    """RFC 4616: an empty authorization id, the name, the password."""
    return f"\0{login.username}\0{login.password}".encode()


class Conversation(Protocol):
    """The server's side of one login by one mechanism."""

    principal: str | None
    """Set after the last token."""

    def step(self, token: bytes) -> bytes:
        """Answer a token. Raises AuthenticationFailed."""
        ...


class Users(Protocol):
    """The users of a listener."""

    @property
    def mechanisms(self) -> Mapping[str, Callable[[], Conversation]]:
        """Return what begins a login, by mechanism."""
        ...


class PlainUsers:
    """Users with their passwords, for logins by PLAIN."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = passwords

    @property
    def mechanisms(self) -> Mapping[str, Callable[[], Conversation]]:
        return {PLAIN: lambda: _PlainServer(self)}

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


class _PlainServer:
    def __init__(self, users: PlainUsers) -> None:
        self.principal: str | None = None
        self._users = users

    def step(self, token: bytes) -> bytes:
        self.principal = self._users.principal(token)
        return b""


class MechanismUsers:
    """The users of a listener with several mechanisms, each with users of its own."""

    def __init__(self, plain: PlainUsers | None, scram: Mapping[str, ScramUsers]) -> None:
        begins: dict[str, Callable[[], Conversation]] = {} if plain is None else dict(plain.mechanisms)
        begins |= {mechanism: partial(ScramServer, users) for mechanism, users in scram.items()}
        self.mechanisms: Mapping[str, Callable[[], Conversation]] = begins
        """May be replaced: the next logins are by these."""


class _Awaits(Enum):
    HANDSHAKE = "handshake"
    AUTHENTICATE = "authenticate"
    BARE_TOKEN = "bare token"
    NOTHING = "nothing"


class ServerExchange:
    """The server's side of the authentication of one connection.

    Once `failure` is set (a message), the connection must be closed after the last response was sent.
    """

    def __init__(self, users: Users) -> None:
        self.principal: str | None = None
        """Set once the client has authenticated."""
        self.failure: str | None = None
        self._users = users
        self._conversation: Conversation | None = None
        self._awaits = _Awaits.HANDSHAKE

    @property
    def awaits_bare_token(self) -> bool:
        """True if the next frame is a token and no request."""
        return self._awaits is _Awaits.BARE_TOKEN

    def handshake(self, request: m.SaslHandshakeRequest, version: int) -> m.SaslHandshakeResponse:
        offered = list(self._users.mechanisms)
        if self._awaits is not _Awaits.HANDSHAKE:
            self._fail("a SaslHandshake came out of turn")
            return m.SaslHandshakeResponse(error_code=Error.ILLEGAL_SASL_STATE, mechanisms=offered)
        begin = self._users.mechanisms.get(request.mechanism)
        if begin is None:
            enabled = ", ".join(offered)
            self._fail(f"the client asks for the SASL mechanism {request.mechanism!r}, and only {enabled} is enabled")
            return m.SaslHandshakeResponse(error_code=Error.UNSUPPORTED_SASL_MECHANISM, mechanisms=offered)
        self._conversation = begin()
        self._awaits = _Awaits.AUTHENTICATE if version > 0 else _Awaits.BARE_TOKEN
        return m.SaslHandshakeResponse(mechanisms=offered)

    def authenticate(self, request: m.SaslAuthenticateRequest) -> m.SaslAuthenticateResponse:
        if self._awaits is not _Awaits.AUTHENTICATE:
            self._fail("a SaslAuthenticate came out of turn")
            return m.SaslAuthenticateResponse(
                error_code=Error.ILLEGAL_SASL_STATE, error_message="SaslAuthenticate follows a SaslHandshake, once"
            )
        answer = self._take(bytes(request.auth_bytes))
        if self.failure is None:
            return m.SaslAuthenticateResponse(auth_bytes=answer)
        return m.SaslAuthenticateResponse(
            error_code=Error.SASL_AUTHENTICATION_FAILED,
            error_message="Authentication failed: Invalid username or password",
        )

    def bare_token(self, token: bytes) -> bytes:
        """Take a token that came without a header; return the answer, which has none either."""
        return self._take(token)

    def _take(self, token: bytes) -> bytes:
        assert self._conversation is not None
        try:
            answer = self._conversation.step(token)
        except AuthenticationFailed as error:
            self._awaits = _Awaits.NOTHING
            self._fail(str(error))
            return b""
        self.principal = self._conversation.principal
        if self.principal is not None:
            self._awaits = _Awaits.NOTHING
        return answer

    def _fail(self, reason: str) -> None:
        """Set `failure`, unless the client has authenticated already: then it gets an error and stays connected."""
        if self.principal is None:
            self.failure = f"authentication failed: {reason}"
