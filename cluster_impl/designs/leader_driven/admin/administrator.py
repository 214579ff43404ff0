"""Administrative requests as any broker of this design carries them out: in background tasks, answered in time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.coordination.errors import CoordinationError
from fencepost.cluster_impl.designs.leader_driven.admin.lock import locked
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import (
    Command,
    InFlightLimit,
    Procedure,
    ProcedureExecutor,
    carry_out,
)
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.on_zookeeper.document import MalformedZnode
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

T = TypeVar("T")

MIN_BROKER_TIMEOUT_S = 30.0
"""Minimum seconds that brokers get to take the requests of a command, however short the client's timeout is."""

SIDE_BY_SIDE_COMMANDS = 50
"""Commands that run at a time; one request may name thousands of topics."""

MIN_READ_TIMEOUT_S = 1.0
"""Minimum seconds for reading, so that a client with no timeout still gets the answers that need no wait."""


class Administrator:
    """The commands of one broker. A command that is not done when its response is due goes on, and logs its end."""

    def __init__(
        self,
        new_executor: Callable[[], ProcedureExecutor],
        monitor: StateChangeMonitor,
        topic_defaults: TopicDefaults,
        queue_capacity: int,
    ) -> None:
        """`new_executor` returns the executor for a command; it ends with its ZooKeeper session.

        `queue_capacity` is state.change.queue.max.requests.
        """
        self._new_executor = new_executor
        self._monitor = monitor
        self.topic_defaults = topic_defaults
        self._queue_capacity = queue_capacity
        self._in_flight = InFlightLimit(max(1, queue_capacity // 2))
        self._turns = asyncio.Semaphore(SIDE_BY_SIDE_COMMANDS)
        self._commands: set[asyncio.Task[Any]] = set()

    def close(self) -> None:
        for task in self._commands:
            task.cancel()

    async def look(self, make: Callable[[], Procedure[T]], timeout: float, what: str) -> T:
        """Run a procedure that only reads, within `timeout` seconds. Raises RequestError."""
        return await self.within(max(timeout, MIN_READ_TIMEOUT_S), self.carry_out(lambda _: make(), timeout), what)

    async def carry_out(self, make: Callable[[Command], Procedure[T]], timeout: float) -> T:
        """Run a command to its end in the session that is open now, and return its result.

        Brokers get at least MIN_BROKER_TIMEOUT_S, also if the client's `timeout` (seconds) is shorter. Raises
        RequestError.
        """
        command = Command(
            self._monitor,
            time.monotonic,
            max(timeout, MIN_BROKER_TIMEOUT_S),
            queue_capacity=self._queue_capacity,
            in_flight=self._in_flight,
        )
        try:
            return await carry_out(make(command), self._new_executor(), time.monotonic)
        except CoordinationError as error:
            raise RequestError(
                Error.REQUEST_TIMED_OUT,
                f"The command ended with the ZooKeeper session of broker {self._monitor.broker_id} ({error}); "
                "the next attempt continues, or cleans up.",
            ) from error
        except MalformedZnode as error:
            raise RequestError(Error.UNKNOWN_SERVER_ERROR, str(error)) from error

    async def carry_out_alone(self, topic: str, make: Callable[[Command], Procedure[T]], timeout: float) -> T:
        """Run a command as `carry_out` does while it holds the topic's lock. Raises RequestError."""
        async with self._turns:
            return await self.carry_out(lambda command: locked(command, topic, make(command)), timeout)

    async def within(self, timeout: float, work: Coroutine[Any, Any, T], what: str) -> T:
        """Return the result of `work`, or raise what it raises.

        Raises RequestError if it is not done within `timeout` seconds; the work goes on.
        """
        task = asyncio.create_task(work)
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        await asyncio.wait({task}, timeout=max(0.0, timeout))
        if task.done():
            return task.result()
        task.add_done_callback(lambda ended: _ended(what, ended))
        raise RequestError(Error.REQUEST_TIMED_OUT, f"{what} is under way.")


def _ended(what: str, task: asyncio.Task[Any]) -> None:
    """Log the end of a command whose response was already sent."""
    if task.cancelled():
        log.warning("%s was cut short", what)
    elif (error := task.exception()) is None:
        log.info("%s is done", what)
    else:
        log.warning("%s failed: %s", what, error)
