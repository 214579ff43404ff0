"""Clients of a real ZooKeeper for tests, with a deadline on everything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.wire.hosts import Hosts


class Client(ZooKeeper):
    """Remembers the states it went through."""

    def __init__(self, connect: str, session_timeout: float) -> None:
        super().__init__(connect, session_timeout, Hosts())
        self.states: list[SessionState] = []
        self.listeners.append(self.states.append)


@asynccontextmanager
async def client(connect: str, session_timeout: float = 5.0) -> AsyncIterator[Client]:
    made = Client(connect, session_timeout)
    await made.start(20)
    try:
        yield made
    finally:
        await made.close()
