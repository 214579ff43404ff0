"""A registration whose answer was lost: the controller may know the epoch long before the broker does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from fencepost.cluster_impl.coordination.errors import ConnectionLost, NodeExistsError
from fencepost.cluster_impl.coordination.session_state import SessionState
from fencepost.cluster_impl.coordination.znodes import CreatedZnode, Stat
from fencepost.cluster_impl.coordination.zookeeper import StateListener, ZooKeeper
from fencepost.cluster_impl.designs.zk_controller.broker.registration import ZnodeRegistration
from fencepost.cluster_impl.designs.zk_controller.znodes import BrokerInfo

ME, OTHER, EPOCH = 4, 5, 70


class LosingServer:
    """Creates the znode for any session, or has that of `owner`; loses the first response, and is away then."""

    def __init__(self, owner: int | None = None) -> None:
        self.session_id = ME
        self.listeners: list[StateListener] = []
        self.is_back = asyncio.Event()
        self.is_back.set()
        self._owner = owner
        self._loses = owner is None

    async def until_connected(self) -> None:
        await self.is_back.wait()

    async def create(self, path: str, data: bytes, *, ephemeral: bool, make_parents: bool) -> CreatedZnode:
        if self._owner is not None:
            raise NodeExistsError(f"{path} exists", path)
        self._owner = self.session_id
        if self._loses:
            self._loses = False
            self.is_back.clear()
            raise ConnectionLost("the connection broke", path, in_doubt=True)
        return CreatedZnode(path, Stat(EPOCH, EPOCH, EPOCH, 0, self.session_id))

    async def exists(self, path: str, watch: object = None) -> Stat:
        assert self._owner is not None
        return Stat(EPOCH, EPOCH, EPOCH, 0, self._owner)

    def expires(self) -> None:
        self._owner = None
        for listener in self.listeners:
            listener(SessionState.EXPIRED)


def registering(
    scenario: Callable[[LosingServer, ZnodeRegistration], Awaitable[None]], owner: int | None = None
) -> None:
    async def main() -> None:
        server = LosingServer(owner)
        registration = ZnodeRegistration(
            cast("ZooKeeper", server), ME, lambda: BrokerInfo(5, (), 0), lambda _: None, lambda: None
        )
        first = asyncio.create_task(registration.first(timeout=30))
        async with asyncio.timeout(20):
            await asyncio.sleep(0.01)
            await scenario(server, registration)
        first.cancel()

    asyncio.run(main())


@pytest.mark.requirement("INT-25")
def test_what_is_said_to_an_epoch_in_doubt_waits_until_the_epoch_is_known() -> None:
    async def scenario(server: LosingServer, registration: ZnodeRegistration) -> None:
        waiting = asyncio.create_task(registration.settled())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        server.is_back.set()
        await waiting
        assert registration.epoch == EPOCH

    registering(scenario)


def test_when_the_session_has_expired_there_is_no_epoch_to_wait_for() -> None:
    async def scenario(server: LosingServer, registration: ZnodeRegistration) -> None:
        server.expires()
        await registration.settled()
        assert registration.epoch == -1

    registering(scenario)


def test_an_id_that_is_anothers_is_no_epoch_to_wait_for() -> None:
    async def scenario(_: LosingServer, registration: ZnodeRegistration) -> None:
        await registration.settled()
        assert registration.epoch == -1

    registering(scenario, owner=OTHER)
