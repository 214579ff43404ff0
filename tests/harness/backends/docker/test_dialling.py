"""Connections that an agent opens and hands over: they are as real as one's own."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fencepost.harness.backends.docker.agent import SOCKET, serve
from fencepost.harness.backends.docker.dialling import dial_inside, reaches_agent, sock_diag_inside
from fencepost.harness.backends.docker.forwarder import TcpForwarder
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.tcp_info import received
from fencepost.harness.targets.archives import free_port


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A shared folder whose path is longer than that of a Unix socket may be."""
    folder = tmp_path / ("a" * 60) / ("b" * 60)
    folder.mkdir(parents=True)
    path = Path(f"/proc/self/fd/{os.open(folder, os.O_PATH | os.O_DIRECTORY)}") / SOCKET
    serve(path)
    return folder


@pytest.fixture
def echo() -> Iterator[Endpoint]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_echo, args=(server,), daemon=True).start()
        yield Endpoint(*server.getsockname())


def _echo(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.sendall(connection.recv(100).upper())


def test_a_connection_from_inside_carries_bytes_both_ways(shared: Path, echo: Endpoint) -> None:
    assert reaches_agent(shared)
    with dial_inside(shared, echo, 5.0) as connection:
        assert connection.getpeername() == echo
        connection.sendall(b"hello")
        assert connection.recv(100) == b"HELLO"
        assert connection.recv(100) == b""


def test_a_connection_refused_inside_is_refused_here(shared: Path) -> None:
    with pytest.raises(ConnectionRefusedError):
        dial_inside(shared, Endpoint("127.0.0.1", free_port()), 5.0)


def test_silence_inside_is_silence_here(shared: Path) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        with closing(socket.create_connection(full.getsockname())), pytest.raises(TimeoutError):
            for _ in range(3):  # what does not fit into the queue is not answered
                dial_inside(shared, Endpoint(*full.getsockname()), 0.2)


def test_the_kernel_tells_about_the_connections_inside(shared: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        at = Endpoint(*server.getsockname())
        with closing(socket.create_connection(at)), closing(server.accept()[0]), sock_diag_inside(shared) as kernel:
            assert [each.bytes for each in received(kernel) if each.local == at] == [0]


def test_an_agent_that_is_gone_is_infrastructure_and_no_measurement(tmp_path: Path) -> None:
    assert not reaches_agent(tmp_path)
    with pytest.raises(InfrastructureError, match=r"the agent of the pod at .* does not answer"):
        dial_inside(tmp_path, Endpoint("127.0.0.1", 1), 0.1)


def test_a_forwarder_leads_inside_and_closes_if_nothing_listens(shared: Path, echo: Endpoint) -> None:
    here = Endpoint("127.0.0.1", free_port())
    with closing(TcpForwarder(shared, here, echo)), socket.create_connection(here, 5.0) as connection:
        connection.sendall(b"hello")
        assert connection.recv(100) == b"HELLO"
    nowhere = Endpoint("127.0.0.1", free_port())
    with closing(TcpForwarder(shared, here, nowhere)), socket.create_connection(here, 5.0) as connection:
        assert connection.recv(100) == b""
