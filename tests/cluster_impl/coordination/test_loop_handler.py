"""The wake-ups of kazoo's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from fencepost.cluster_impl.coordination.loop_handler import LoopHandler
from fencepost.cluster_impl.coordination.outstanding_ping import OutstandingPing
from fencepost.cluster_impl.coordination.session import MAX_IN_FLIGHT


def test_waking_a_thread_that_takes_nothing_never_blocks() -> None:
    reader, writer = LoopHandler(1.0, OutstandingPing(1.5)).create_socket_pair()
    with reader, writer:
        assert sum(writer.send(b"\0") for _ in range(10_000)) == 10_000
        assert len(reader.recv(10_000)) > MAX_IN_FLIGHT
        writer.send(b"\0")
        assert reader.recv(10_000) == b"\0"


def test_what_is_submitted_in_one_turn_of_the_loop_wakes_the_thread_at_once() -> None:
    next_turn: list[Callable[[], object]] = []
    reader, writer = LoopHandler(1.0, OutstandingPing(1.5), soon=next_turn.append).create_socket_pair()
    with reader, writer:
        for _ in range(5):
            writer.send(b"\0")
        [send] = next_turn
        send()
        assert reader.recv(10_000) == bytes(5)
        threading.Thread(target=writer.send, args=(b"\0",)).start()
        assert reader.recv(10_000) == b"\0"
        writer.send(b"\0")
        assert len(next_turn) == 2
    next_turn[1]()
