"""Connects to listeners that are secured: by TLS, by a login with SASL, or both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import NamedTuple

from kio.schema.errors import ErrorCode
from kio.schema.sasl_authenticate.v2.request import SaslAuthenticateRequest
from kio.schema.sasl_authenticate.v2.response import SaslAuthenticateResponse
from kio.schema.sasl_handshake.v1.request import SaslHandshakeRequest
from kio.schema.sasl_handshake.v1.response import SaslHandshakeResponse

from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.scram import ScramClient
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.plan.security import SaslMechanism
from fencepost.harness.wire.no_answer import Refused, Unreadable


class Credentials(NamedTuple):
    user: str
    password: str
    mechanism: SaslMechanism = "PLAIN"


class Access(NamedTuple):
    """How to connect to a listener: with which login, and over which TLS."""

    credentials: Credentials | None = None
    tls: SSLContext | None = None


PLAINTEXT = Access()


def connect(endpoint: Endpoint, timeout: float, access: Access = PLAINTEXT) -> RawConnection:
    """Return a connection that is logged in, if there are credentials. Raises NoAnswer; Refused if they are refused."""
    connection = RawConnection(endpoint.host, endpoint.port, timeout, access.tls)
    if access.credentials is not None:
        with _closed_on_error(connection):
            error = log_in(connection, access.credentials)
            if error is not ErrorCode.none:
                raise Refused(f"{endpoint} does not let {access.credentials.user} log in: {error.name}")
    return connection


def log_in(connection: RawConnection, credentials: Credentials) -> ErrorCode:
    """Log in and return the error code of the server. Raises NoAnswer."""
    user, password, mechanism = credentials
    greeting = connection.call(SaslHandshakeRequest(mechanism=mechanism), SaslHandshakeResponse)
    if greeting.error_code is not ErrorCode.none:
        return greeting.error_code
    if mechanism == "PLAIN":
        return _send(connection, f"\0{user}\0{password}".encode()).error_code
    client = ScramClient(mechanism, user, password)
    first = _send(connection, client.first)
    if first.error_code is not ErrorCode.none:
        return first.error_code
    try:
        last = _send(connection, client.final(first.auth_bytes))
        if last.error_code is ErrorCode.none and not client.is_proof(last.auth_bytes):
            raise Refused(f"{connection.peer} does not prove that it knows {user}")
    except (ValueError, KeyError) as error:
        raise Unreadable(f"{connection.peer} answered a login by {mechanism} with what is none: {error}") from error
    return last.error_code


def _send(connection: RawConnection, token: bytes) -> SaslAuthenticateResponse:
    return connection.call(SaslAuthenticateRequest(auth_bytes=token), SaslAuthenticateResponse)


@contextmanager
def _closed_on_error(connection: RawConnection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise
