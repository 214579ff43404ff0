"""Administrative requests as any broker of this design carries them out: in tasks of their own, answered in time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from cluster_impl.coordination.errors import CoordinationError
from cluster_impl.designs.leader_driven.admin.lock import locked
from cluster_impl.designs.leader_driven.admin.seam import Command, Failed, Procedure, Room, Seam, carry_out
from cluster_impl.designs.leader_driven.state_changes.monitor import Monitor
from cluster_impl.designs.on_zookeeper.document import MalformedZnode
from cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)

T = TypeVar("T")

LEAST_PATIENCE = 30.0
"""Seconds that brokers have at least to take what a command asks of them, however short the client waits."""

SIDE_BY_SIDE_COMMANDS = 50
"""A request may name thousands of topics."""

LEAST_LOOK = 1.0
"""Seconds that reading may take at least, so that also who does not wait is told what can be told at once."""


@dataclass(frozen=True, slots=True)
class AdminConfig:
    """`queue_capacity`: state.change.queue.max.requests."""

    default_partitions: int
    default_replication_factor: int
    queue_capacity: int


class Administrator:
    """Of one broker. A command that is not over when its answer is due goes on, and ends in the log."""

    def __init__(self, new_seam: Callable[[], Seam], monitor: Monitor, config: AdminConfig) -> None:
        """`new_seam` is called for each command: it ends with the session that it began in."""
        self._new_seam = new_seam
        self._monitor = monitor
        self.config = config
        self._room = Room(max(1, config.queue_capacity // 2))
        self._turns = asyncio.Semaphore(SIDE_BY_SIDE_COMMANDS)
        self._commands: set[asyncio.Task[Any]] = set()

    def close(self) -> None:
        for task in self._commands:
            task.cancel()

    async def look(self, make: Callable[[], Procedure[T]], timeout: float, what: str) -> T:
        """What only reads. Raises Failed."""
        return await self.within(max(timeout, LEAST_LOOK), self.carry_out(lambda _: make(), timeout), what)

    async def carry_out(self, make: Callable[[Command], Procedure[T]], timeout: float) -> T:
        """A command to its end, by the session of this moment. Raises Failed. `timeout` in seconds, of the client."""
        command = Command(
            self._monitor,
            time.monotonic,
            max(timeout, LEAST_PATIENCE),
            queue_capacity=self.config.queue_capacity,
            room=self._room,
        )
        try:
            return await carry_out(make(command), self._new_seam(), time.monotonic)
        except CoordinationError as error:
            raise Failed(
                Error.REQUEST_TIMED_OUT,
                f"The command ended with the ZooKeeper session of broker {self._monitor.broker_id} ({error}); "
                "the next attempt goes on, or cleans up.",
            ) from error
        except MalformedZnode as error:
            raise Failed(Error.UNKNOWN_SERVER_ERROR, str(error)) from error

    async def carry_out_alone(self, topic: str, make: Callable[[Command], Procedure[T]], timeout: float) -> T:
        """While no other command works on the topic."""
        async with self._turns:
            return await self.carry_out(lambda command: locked(command, topic, make(command)), timeout)

    async def within(self, timeout: float, work: Coroutine[Any, Any, T], what: str) -> T:
        """Its result. Raises what it raises, or Failed if that is not known yet when the time is over."""
        task = asyncio.create_task(work)
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        await asyncio.wait({task}, timeout=max(0.0, timeout))
        if task.done():
            return task.result()
        task.add_done_callback(lambda ended: _ended(what, ended))
        raise Failed(Error.REQUEST_TIMED_OUT, f"{what} is under way.")


def _ended(what: str, task: asyncio.Task[Any]) -> None:
    """Nobody waits for this any more."""
    if task.cancelled():
        log.warning("%s was cut short", what)
    elif (error := task.exception()) is None:
        log.info("%s is done", what)
    else:
        log.warning("%s failed: %s", what, error)
