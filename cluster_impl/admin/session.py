"""The tool's own way to ZooKeeper: one session for one command."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Collection
from types import TracebackType
from typing import Self

from cluster_impl.admin.arguments import Options
from cluster_impl.coordination.errors import ConnectionLost
from cluster_impl.coordination.steps import Exists, Present, Steps
from cluster_impl.coordination.zookeeper import ZooKeeper
from cluster_impl.designs.leader_driven import znodes
from cluster_impl.designs.leader_driven.admin.lock import locked
from cluster_impl.designs.leader_driven.admin.seam import (
    NOBODY,
    Command,
    Failed,
    Procedure,
    Seam,
    T,
    carry_out,
)
from cluster_impl.designs.leader_driven.admin.waiting import ZooKeeperSeam
from cluster_impl.designs.leader_driven.state_changes.monitor import Monitor
from cluster_impl.wire.errors import Error
from cluster_impl.wire.hosts import Hosts

SESSION_SECONDS = 6.0
"""How long a killed tool holds its topic."""

CONNECT_SECONDS = 10.0
"""How long ZooKeeper may be silent, at the beginning and later; longer only where the timeout is."""


class Bounded:
    """A seam whose steps end when ZooKeeper has not answered for `limit` seconds: a session that is lost is waited for
    in vain."""

    def __init__(self, seam: Seam, limit: float) -> None:
        self._seam = seam
        self._limit = limit

    async def run(self, steps: Steps[T]) -> T:
        """Raises ConnectionLost; else as the seam does."""
        try:
            async with asyncio.timeout(self._limit):
                return await self._seam.run(steps)
        except TimeoutError:
            raise ConnectionLost(f"ZooKeeper did not answer for {self._limit:g} s", in_doubt=True) from None

    async def gone(self, paths: Collection[str], within: float) -> None:
        await self._seam.gone(paths, within)


class Administration:
    """Entering raises TimeoutError with a sentence where no ZooKeeper answers."""

    def __init__(self, options: Options) -> None:
        self._zookeeper_servers = options.zookeeper
        self._limit = max(options.timeout, CONNECT_SECONDS)
        self.command = Command(
            Monitor(NOBODY), time.monotonic, options.timeout, queue_capacity=options.queue_capacity, tell=_say
        )

    async def __aenter__(self) -> Self:
        self._zookeeper = ZooKeeper(self._zookeeper_servers, SESSION_SECONDS, Hosts.load(None))
        await self._zookeeper.start(CONNECT_SECONDS)
        self._seam = Bounded(ZooKeeperSeam(self._zookeeper), self._limit)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._zookeeper.close()

    async def carry_out(self, procedure: Procedure[T]) -> T:
        """Raises Failed, CoordinationError or MalformedZnode."""
        return await carry_out(procedure, self._seam, time.monotonic)

    async def carry_out_alone(self, topic: str, procedure: Procedure[T]) -> T:
        """While no other command works on the topic."""
        return await self.carry_out(locked(self.command, topic, procedure))

    async def check_cluster(self) -> None:
        """Raises Failed where no cluster is."""
        await self.carry_out(_check_cluster())


def _check_cluster() -> Procedure[None]:
    [state] = yield [Exists(znodes.STATE)]
    if not isinstance(state, Present):
        sentence = f"There is no cluster: ZooKeeper has no {znodes.STATE}. Start a broker, or use add-broker."
        raise Failed(Error.UNKNOWN_SERVER_ERROR, sentence)


def _say(how_far: str) -> None:
    print(how_far, file=sys.stderr)
