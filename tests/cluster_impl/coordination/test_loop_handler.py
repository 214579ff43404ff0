"""The wake-ups of kazoo's thread."""

from __future__ import annotations

from cluster_impl.coordination.loop_handler import LoopHandler
from cluster_impl.coordination.session import MAX_IN_FLIGHT


def test_waking_a_thread_that_takes_nothing_never_blocks() -> None:
    reader, writer = LoopHandler(connect_timeout=1.0).create_socket_pair()
    with reader, writer:
        assert sum(writer.send(b"\0") for _ in range(10_000)) == 10_000
        assert len(reader.recv(10_000)) > MAX_IN_FLIGHT
        writer.send(b"\0")
        assert reader.recv(10_000) == b"\0"
