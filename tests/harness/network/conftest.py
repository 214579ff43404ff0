"""A Toxiproxy of one's own, and servers that answer ApiVersions."""

import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.lease import Lease
from fencepost.harness.network.server import await_version, server_command
from fencepost.harness.network.toxiproxy import Toxiproxy


@pytest.fixture
def addresses(tmp_path: Path) -> Iterator[Addresses]:
    with Lease.acquire(tmp_path, lambda addresses: [addresses.toxiproxy]) as lease:
        yield lease.addresses


@pytest.fixture
def toxiproxy(addresses: Addresses, tmp_path: Path) -> Iterator[Toxiproxy]:
    log = tmp_path / "toxiproxy.log"
    client = Toxiproxy(addresses.toxiproxy, timeout=5, log=log)
    with log.open("wb") as out, subprocess.Popen(server_command(client.api).argv, stderr=out, stdout=out) as it:
        try:
            await_version(client)
            yield client
        finally:
            it.kill()


@pytest.fixture
def serve() -> Iterator[Callable[[str, int], None]]:
    """Start a server that answers each request with its correlation id and nothing else."""
    listeners: list[socket.socket] = []

    def answer(connection: socket.socket) -> None:
        received = b""
        with connection, suppress(ConnectionError):
            while part := connection.recv(1 << 16):
                received += part
                while len(received) >= 4 and len(received) >= (end := 4 + struct.unpack_from(">i", received)[0]):
                    connection.sendall(struct.pack(">i", 4) + received[8:12])
                    received = received[end:]

    def accept(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=[connection], daemon=True).start()

    def start(host: str, port: int) -> None:
        listener = socket.create_server((host, port))
        listeners.append(listener)
        threading.Thread(target=accept, args=[listener], daemon=True).start()

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
