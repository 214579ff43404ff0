"""Clients that cost memory without a malformed frame: many that say nothing, and one that reads no answer."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.framing import encode_request
from fencepost.cluster_impl.wire.registry import KAFKA
from tests.fuzz.storm import Client, Listener

IN_FLIGHT = 20_000
"""Requests of the slow reader, more than sockets and back-pressure let in."""


@contextmanager
def idle(listener: Listener, count: int) -> Iterator[None]:
    """Hold connections open that send half a length each, which a node cannot tell from a slow client."""
    with ExitStack() as stack:
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection((listener.host, listener.port), timeout=30))
            connection.send(b"\0\0")
        yield


@contextmanager
def slow_reader(listener: Listener) -> Iterator[int]:
    """Hold a connection open that asks for metadata and reads nothing; yield the bytes that the node took."""
    api = KAFKA[m.MetadataRequest.API_KEY]
    request = b"".join(encode_request(api, 12, 1, "slow", m.MetadataRequest(topics=None)))
    with socket.create_connection((listener.host, listener.port), timeout=30) as connection:
        connection.setblocking(False)
        taken = 0
        try:
            for _ in range(IN_FLIGHT):
                taken += connection.send(request)
        except BlockingIOError:
            pass
        yield taken


async def served(listener: Listener, times: int = 20) -> float:
    """Return the longest time that a new client waits for an answer, in seconds."""
    client = Client(listener)
    await client.run(times)
    return max(client.latencies)
