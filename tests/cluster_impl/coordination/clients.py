"""Clients of a real ZooKeeper for tests, with a deadline on everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import uvloop

from cluster_impl.coordination.session_state import SessionState
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.wire.hosts import Hosts

DEADLINE_SECONDS = 60


def run(test: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(DEADLINE_SECONDS):
            await test

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(limited())


async def until(condition: Callable[[], bool]) -> None:
    """The deadline is that of `run`."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.002)


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
