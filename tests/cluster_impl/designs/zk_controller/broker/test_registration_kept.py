"""A server that was cut off calls a session expired that the others keep, with its znode (KAFKA-7165)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from fencepost.cluster_impl.coordination.errors import NodeExistsError
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.znodes import CreatedZnode, Stat
from fencepost.cluster_impl.coordination.zookeeper import StateListener, ZooKeeper
from fencepost.cluster_impl.designs.zk_controller.broker.registration import ZnodeRegistration
from fencepost.cluster_impl.designs.zk_controller.znodes import BrokerInfo
from fencepost.cluster_impl.failures import NodeFailure

FIRST, SECOND, OTHER = 11, 12, 99


class KeepingServer:
    """One ephemeral znode, whose transaction is the number of those before it."""

    def __init__(self) -> None:
        self.session_id = FIRST
        self.listeners: list[StateListener] = []
        self.owner: int | None = None
        self.watches: list[Callable[[None], None]] = []
        self.is_watched = asyncio.Event()
        self._made = 0

    async def until_connected(self) -> None:
        await asyncio.sleep(0)

    async def create(self, path: str, data: bytes, *, ephemeral: bool, make_parents: bool) -> CreatedZnode:
        if self.owner is not None:
            raise NodeExistsError(f"{path} exists", path)
        self.owner, self._made = self.session_id, self._made + 1
        return CreatedZnode(path, self._stat())

    async def exists(self, path: str, watch: Callable[[None], None] | None = None) -> Stat:
        if watch is not None:
            self.watches.append(watch)
            self.is_watched.set()
        return self._stat()

    def is_said_to_expire(self) -> None:
        """The znode stays."""
        self.session_id = SECOND
        for listener in self.listeners:
            listener(SessionState.EXPIRED)

    def removes_it(self) -> None:
        self.owner = None
        for watch in self.watches:
            watch(None)

    def _stat(self) -> Stat:
        assert self.owner is not None
        return Stat(self._made, self._made, self._made, 0, self.owner)


async def registered(server: KeepingServer, epochs: list[int]) -> asyncio.Task[None]:
    """At first, and then kept."""
    info = BrokerInfo(5, (), 0)
    zookeeper = cast("ZooKeeper", server)
    registration = ZnodeRegistration(zookeeper, 4, lambda: info, epochs.append, lambda: epochs.append(-1))
    await registration.first(timeout=30)
    return asyncio.create_task(registration.keep(waits=False))


@pytest.mark.requirement("INT-51")
async def test_a_broker_waits_for_the_znode_of_its_own_earlier_session_to_go() -> None:
    async def main() -> list[int]:
        server, epochs = KeepingServer(), list[int]()
        keeping = await registered(server, epochs)
        async with asyncio.timeout(20):
            server.is_said_to_expire()
            await server.is_watched.wait()
            server.removes_it()
            while len(epochs) < 3:  # noqa: ASYNC110  # the script is a plain list
                await asyncio.sleep(0)
        keeping.cancel()
        return epochs

    assert await main() == [1, -1, 2]


@pytest.mark.requirement("DINT-18")
async def test_the_znode_of_another_process_is_not_waited_for() -> None:
    with pytest.raises(NodeFailure, match="registered by another process"):
        server = KeepingServer()
        keeping = await registered(server, [])
        server.owner = OTHER
        server.is_said_to_expire()
        async with asyncio.timeout(20):
            await keeping
