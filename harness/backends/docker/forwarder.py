"""Forwards a TCP port of this machine into a pod: that of the API of the pod's Toxiproxy.

The API listens on the loopback address of the pod, so that no node can change the links of another, and so that it
answers while the pod is off its network. The agent of the pod opens the connections inside.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path

from fencepost.harness.backends.docker.dialling import dial_inside
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint

CONNECT_TIMEOUT_S = 5.0
CHUNK = 1 << 16


class TcpForwarder:
    """Forwards connections at `here` to `inside`, from its construction until `close`."""

    def __init__(self, folder: Path, here: Endpoint, inside: Endpoint) -> None:
        """`folder` is shared by the pod and the harness."""
        self._folder = folder
        self._inside = inside
        self._listener = socket.create_server(here, backlog=32)
        threading.Thread(target=self._accept, name=f"forwarder-{here}", daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        """Forward one connection; close it if the endpoint inside cannot be reached."""
        try:
            upstream = dial_inside(self._folder, self._inside, CONNECT_TIMEOUT_S)
        except (OSError, InfrastructureError):
            client.close()
            return
        upstream.settimeout(None)
        threading.Thread(target=_copy, args=(upstream, client), daemon=True).start()
        _copy(client, upstream)


def _copy(source: socket.socket, destination: socket.socket) -> None:
    """Copy bytes until either side ends, then shut down the other."""
    with suppress(OSError):
        while part := source.recv(CHUNK):
            destination.sendall(part)
    with suppress(OSError):
        destination.shutdown(socket.SHUT_WR)
