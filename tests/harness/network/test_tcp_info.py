"""The kernel counts what a connection was given, read or not, and also when its sender is gone."""

from __future__ import annotations

import socket
import time
from contextlib import closing

from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.tcp_info import received, sock_diag


def _counted(local: Endpoint) -> list[int]:
    with sock_diag() as kernel:
        return [each.bytes for each in received(kernel) if each.local == local]


def test_bytes_are_counted_on_the_side_that_took_them_until_it_closes() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        here = Endpoint(*server.getsockname())
        sender = socket.create_connection(here)
        taker, _ = server.accept()
        sender.sendall(b"x" * 1000)
        _await(here, [1000])
        assert taker.recv(400)
        assert _counted(here) == [1000]
        sender.close()
        _await_end(taker)
        assert _counted(here) == [1000]
        taker.close()
        _await(here, [])


def _await_end(taker: socket.socket) -> None:
    while taker.recv(1000):
        pass


def _await(here: Endpoint, wanted: list[int]) -> None:
    deadline = time.monotonic() + 30
    while _counted(here) != wanted:
        assert time.monotonic() < deadline, _counted(here)
        time.sleep(0.01)
