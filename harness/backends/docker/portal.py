"""The API of a pod's Toxiproxy, on this machine.

It listens on the pod's own loopback, so that no node can reach another's links, and answers also while the pod is off
its network. Connections to the address here are continued inside, by the pod's agent.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path

from harness.backends.docker.dialling import dial_inside
from harness.errors import InfrastructureError
from harness.network.addresses import Endpoint

PATIENCE = 5.0
CHUNK = 1 << 16


class Portal:
    """From its making until `close`, `here` leads to `inside`."""

    def __init__(self, folder: Path, here: Endpoint, inside: Endpoint) -> None:
        """`folder` is what the pod shares with the harness."""
        self._folder = folder
        self._inside = inside
        self._listener = socket.create_server(here, backlog=32)
        threading.Thread(target=self._accept, name=f"portal-{here}", daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                visitor, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._lead, args=(visitor,), daemon=True).start()

    def _lead(self, visitor: socket.socket) -> None:
        """Whoever dials is hung up on where nobody answers inside: that is what a dead server looks like, too."""
        try:
            onward = dial_inside(self._folder, self._inside, PATIENCE)
        except (OSError, InfrastructureError):
            visitor.close()
            return
        onward.settimeout(None)
        threading.Thread(target=_carry, args=(onward, visitor), daemon=True).start()
        _carry(visitor, onward)


def _carry(source: socket.socket, destination: socket.socket) -> None:
    """Until either side ends; then the other is told so."""
    with suppress(OSError):
        while part := source.recv(CHUNK):
            destination.sendall(part)
    with suppress(OSError):
        destination.shutdown(socket.SHUT_WR)
