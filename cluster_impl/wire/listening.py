"""Binding a listener's socket, with a message for each way it can fail."""

from __future__ import annotations

import errno
import socket


def bound_socket(host: str, port: int, listener: str) -> socket.socket:
    """Return a socket that is bound and does not block. Raises OSError with a message that names the listener."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise OSError(f"listener {listener}: the host {host} is unknown: {error.strerror}") from error
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        listening.close()
        where = f"{host}:{port}"
        message = {
            errno.EADDRINUSE: f"{where} is in use by another process; choose another port for listener {listener}",
            errno.EADDRNOTAVAIL: f"{host} is not an address of this machine; correct listener {listener}",
            errno.EACCES: f"{where} may not be bound by this user; choose a port above 1023 for listener {listener}",
        }.get(error.errno or 0, f"listener {listener} cannot bind {where}: {error.strerror}")
        raise OSError(message) from error
    listening.setblocking(False)
    return listening
