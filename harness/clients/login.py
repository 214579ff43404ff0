"""Logs in at a listener that asks for it, by SASL/PLAIN."""

from __future__ import annotations

from typing import NamedTuple

from kio.schema.errors import ErrorCode
from kio.schema.sasl_authenticate.v2.request import SaslAuthenticateRequest
from kio.schema.sasl_authenticate.v2.response import SaslAuthenticateResponse
from kio.schema.sasl_handshake.v1.request import SaslHandshakeRequest
from kio.schema.sasl_handshake.v1.response import SaslHandshakeResponse

from fencepost.harness.clients.raw import Closed, RawConnection
from fencepost.harness.network.addresses import Endpoint

MECHANISM = "PLAIN"


class Credentials(NamedTuple):
    user: str
    password: str


def connect(endpoint: Endpoint, timeout: float, credentials: Credentials | None) -> RawConnection:
    """Return a connection that is logged in, if there are credentials. Raises NoAnswer, also if they are refused."""
    connection = RawConnection(endpoint.host, endpoint.port, timeout)
    if credentials is not None:
        try:
            error = log_in(connection, *credentials)
        except BaseException:
            connection.close()
            raise
        if error is not ErrorCode.none:
            connection.close()
            raise Closed(f"{endpoint} does not let {credentials.user} log in: {error.name}")
    return connection


def log_in(connection: RawConnection, user: str, password: str) -> ErrorCode:
    """Log in with SASL/PLAIN and return the error code of the server. Raises NoAnswer."""
    greeting = connection.call(SaslHandshakeRequest(mechanism=MECHANISM), SaslHandshakeResponse)
    if greeting.error_code is not ErrorCode.none:
        return greeting.error_code
    request = SaslAuthenticateRequest(auth_bytes=f"\0{user}\0{password}".encode())
    return connection.call(request, SaslAuthenticateResponse).error_code
