"""How long a process waits for a znode of another session: only a server that answers can say that it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NodeExistsError
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.znodes import CreatedZnode, Stat
from fencepost.cluster_impl.coordination.zookeeper import StateListener, ZooKeeper
from fencepost.cluster_impl.designs.on_zookeeper.ephemeral import OwnZnode

ME, OTHER = 4, 5
TIMEOUT_S = 0.05


class Server:
    """Keeps one znode of another session, and can be cut off."""

    def __init__(self) -> None:
        self.session_id = ME
        self.listeners: list[StateListener] = []
        self.owner: int | None = OTHER
        self.is_near = asyncio.Event()
        self.is_near.set()
        self.asked_in_vain = asyncio.Semaphore(0)
        self._watching: list[Callable[[None], None]] = []

    def cut(self) -> None:
        self.is_near.clear()
        self._tell(SessionState.SUSPENDED)

    def heal(self) -> None:
        self.is_near.set()
        self._tell(SessionState.CONNECTED)
        for watch in self._watching:
            watch(None)

    async def until_connected(self) -> None:
        await self.is_near.wait()

    async def create(self, path: str, data: bytes, *, ephemeral: bool, make_parents: bool) -> CreatedZnode:
        self._check(path)
        if self.owner is not None:
            raise NodeExistsError(f"{path} exists", path)
        self.owner = self.session_id
        return CreatedZnode(path, self._stat())

    async def exists(self, path: str, watch: Callable[[None], None] | None = None) -> Stat | None:
        self._check(path)
        if watch is not None:
            self._watching.append(watch)
        return self._stat() if self.owner is not None else None

    def _check(self, path: str) -> None:
        if not self.is_near.is_set():
            self.asked_in_vain.release()
            raise ConnectionLost("there is no connection", path, in_doubt=False)

    def _tell(self, state: SessionState) -> None:
        for listener in self.listeners:
            listener(state)

    def _stat(self) -> Stat:
        assert self.owner is not None
        return Stat(1, 1, 1, 0, self.owner)


async def taking(server: Server, znode: OwnZnode) -> str:
    while True:
        await server.until_connected()
        try:
            await znode.hold(b"")
        except NodeExistsError:
            await znode.until_it_may_be_free()
        except ConnectionLost:
            continue
        else:
            return "taken"


def waiting(scenario: Callable[[Server, asyncio.Task[str]], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        server = Server()
        znode = OwnZnode(cast("ZooKeeper", server), "/mine", "the id is taken")
        task = asyncio.create_task(znode.within(TIMEOUT_S, taking(server, znode)))
        async with asyncio.timeout(20):
            await asyncio.sleep(0)
            await scenario(server, task)
        assert not server.listeners

    asyncio.run(main())


@pytest.mark.requirement("DINT-17", "DLD-01")
def test_a_process_that_hears_nothing_waits_on_and_takes_what_it_finds_free() -> None:
    async def scenario(server: Server, task: asyncio.Task[str]) -> None:
        server.cut()
        server.owner = None
        for _ in range(3):
            await server.asked_in_vain.acquire()
            assert not task.done()
        server.heal()
        assert await task == "taken"

    waiting(scenario)


@pytest.mark.requirement("DINT-17", "DLD-01")
def test_its_timeout_is_counted_anew_once_the_servers_answer_again() -> None:
    async def scenario(server: Server, task: asyncio.Task[str]) -> None:
        server.cut()
        await server.asked_in_vain.acquire()
        server.heal()
        healed = asyncio.get_running_loop().time()
        with pytest.raises(TimeoutError):
            await task
        assert asyncio.get_running_loop().time() - healed >= TIMEOUT_S
        assert server.owner == OTHER

    waiting(scenario)


def test_a_process_that_is_stopped_while_it_waits_takes_nothing() -> None:
    async def scenario(server: Server, task: asyncio.Task[str]) -> None:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        server.owner = None
        server.heal()
        await asyncio.sleep(0)
        assert server.owner is None

    waiting(scenario)
