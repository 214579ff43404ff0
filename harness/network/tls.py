"""Connections over TLS whose errors are those of any socket."""

from __future__ import annotations

import socket
from ssl import SSLContext


def over_tls(connection: socket.socket, tls: SSLContext | None, host: str, timeout: float) -> socket.socket:
    """Return the connection after the handshake with `host`, as it is without TLS. Raise OSError, and close it then."""
    if tls is None:
        return connection
    try:
        connection.settimeout(timeout)
        return tls.wrap_socket(connection, server_hostname=host)
    except OSError:
        connection.close()
        raise
