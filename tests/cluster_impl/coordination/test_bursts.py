"""A watch that is set while the next change is on its way: a reader that reads again at each event misses nothing."""

from __future__ import annotations

import asyncio
import random

import pytest

from fencepost.cluster_impl.coordination.znodes import WatchEvent
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from tests.cluster_impl.coordination.clients import client
from tests.cluster_impl.zookeeper import ZooKeeperServer
from tests.waiting import until

pytestmark = pytest.mark.integration

PAIRS = 300


class Reader:
    """Knows the children as of the last reported event."""

    def __init__(self, zookeeper: ZooKeeper, path: str) -> None:
        self.known: set[str] = set()
        self._zookeeper = zookeeper
        self._path = path
        self._changed = asyncio.Event()

    async def read_for_ever(self) -> None:
        while True:
            self._changed.clear()
            self.known = set(await self._zookeeper.children(self._path, self._on_event))
            await self._changed.wait()

    def _on_event(self, _: WatchEvent) -> None:
        self._changed.set()


@pytest.mark.requirement("DINT-15")
async def test_of_two_changes_that_follow_closely_the_second_is_reported_as_well(server: ZooKeeperServer) -> None:
    chance = random.Random(1)
    async with client(server.connect) as watching, client(server.connect) as changing:
        await changing.create("/bursts", b"")
        reader = Reader(watching, "/bursts")
        reading = asyncio.create_task(reader.read_for_ever())
        for pair in range(PAIRS):
            await changing.create(f"/bursts/{pair}-a", b"")
            await asyncio.sleep(chance.random() * 0.003)
            await changing.create(f"/bursts/{pair}-b", b"")
            await until(lambda: len(reader.known) == 2 * (pair + 1))  # noqa: B023
        reading.cancel()
