"""The tool's connection to ZooKeeper: one session per command."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Collection
from types import TracebackType
from typing import Self

from fencepost.cluster_impl.coordination.errors import ConnectionLost
from fencepost.cluster_impl.coordination.steps import Exists, Present, Steps
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.cli.arguments import Options
from fencepost.cluster_impl.designs.leader_driven.admin.lock import locked
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import (
    NO_BROKER,
    Command,
    Procedure,
    ProcedureExecutor,
    T,
    carry_out,
)
from fencepost.cluster_impl.designs.leader_driven.admin.zookeeper_executor import ZooKeeperExecutor
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts

SESSION_SECONDS = 6.0
"""ZooKeeper session timeout in seconds: how long a killed tool keeps its topic locked."""

CONNECT_SECONDS = 10.0
"""Seconds without a response from ZooKeeper before the tool gives up; a longer `timeout` takes precedence."""


class TimeLimitedExecutor:
    """An executor whose steps fail when ZooKeeper has not answered for `limit` seconds.

    Waiting longer for a lost session would be in vain.
    """

    def __init__(self, executor: ProcedureExecutor, limit: float) -> None:
        self._executor = executor
        self._limit = limit

    async def run(self, steps: Steps[T]) -> T:
        """Run the steps. Raises ConnectionLost after `limit` seconds; else as the wrapped executor."""
        try:
            async with asyncio.timeout(self._limit):
                return await self._executor.run(steps)
        except TimeoutError:
            raise ConnectionLost(f"ZooKeeper did not answer for {self._limit:g} s", in_doubt=True) from None

    async def gone(self, paths: Collection[str], within: float) -> None:
        """Wait as the wrapped executor does, which `within` (seconds) already bounds."""
        await self._executor.gone(paths, within)


class AdminSession:
    """A ZooKeeper session of the tool. Entering raises TimeoutError with a message if no ZooKeeper answers."""

    def __init__(self, options: Options) -> None:
        self._zookeeper_servers = options.zookeeper
        self._limit = max(options.timeout, CONNECT_SECONDS)
        self.command = Command(
            StateChangeMonitor(NO_BROKER),
            time.monotonic,
            options.timeout,
            queue_capacity=options.queue_capacity,
            report_progress=_say,
        )

    async def __aenter__(self) -> Self:
        self._zookeeper = ZooKeeper(self._zookeeper_servers, SESSION_SECONDS, Hosts.load(None))
        await self._zookeeper.start(CONNECT_SECONDS)
        self._executor = TimeLimitedExecutor(ZooKeeperExecutor(self._zookeeper), self._limit)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._zookeeper.close()

    async def carry_out(self, procedure: Procedure[T]) -> T:
        """Run a procedure. Raises RequestError, CoordinationError or MalformedZnode."""
        return await carry_out(procedure, self._executor, time.monotonic)

    async def carry_out_alone(self, topic: str, procedure: Procedure[T]) -> T:
        """Run a procedure while it holds the topic's lock. Raises as `carry_out`."""
        return await self.carry_out(locked(self.command, topic, procedure))

    async def check_cluster(self) -> None:
        """Raise RequestError if ZooKeeper holds no cluster."""
        await self.carry_out(_check_cluster())


def _check_cluster() -> Procedure[None]:
    [state] = yield [Exists(znodes.STATE)]
    if not isinstance(state, Present):
        message = f"There is no cluster: ZooKeeper has no {znodes.STATE}. Start a broker, or use add-broker."
        raise RequestError(Error.UNKNOWN_SERVER_ERROR, message)


def _say(how_far: str) -> None:
    print(how_far, file=sys.stderr)
