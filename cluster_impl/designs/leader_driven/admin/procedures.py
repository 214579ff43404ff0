"""Procedures: administrative commands as generators, free of I/O.

A procedure yields a batch of operations and is sent their outcomes; or it yields `Await` and is sent, for each path,
whether the znode exists once all are gone or the time is over; or it yields `Pause`. Closing a procedure between two
yields is like the death of the command's process at that point.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from fencepost.cluster_impl.coordination.steps import Absent, Found, Get, Operation, Outcome, Present, Steps, run
from fencepost.cluster_impl.designs.leader_driven.state_changes.monitor import StateChangeMonitor
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.wire.errors import Error

T = TypeVar("T")

NO_BROKER = -1
"""The broker id of a command that no broker carries out."""

SIDE_BY_SIDE = 200
"""Partitions that one command works on at a time."""

LOOK_AGAIN = 0.03
"""Seconds between two polls for changes that no watch reports."""


@dataclass(frozen=True, slots=True)
class Await:
    """Wait until none of the znodes exists, at most until `until` (clock of the command).

    Each outcome is Present or Absent, as of the end of the wait.
    """

    paths: Sequence[str]
    until: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait until `until` (clock of the command), without outcomes."""

    until: float


ProcedureRequest = Sequence[Operation] | Await | Pause
Procedure = Generator[ProcedureRequest, Sequence[Outcome], T]


@dataclass(slots=True)
class InFlightLimit:
    """Limits partitions being created or deleted concurrently across commands.

    Each puts at most one request into the queue of a broker, so these alone never fill a queue.
    """

    free: int

    def take(self, partitions: int) -> bool:
        """Reserve so many partitions; return False, and reserve none, if the limit does not allow that."""
        if self.free < partitions:
            return False
        self.free -= partitions
        return True

    def give(self, partitions: int) -> None:
        """Release so many partitions."""
        self.free += partitions


@dataclass(frozen=True, slots=True)
class Command:
    """The settings and resources of the command that a procedure is part of.

    `monitor` counts and logs the requests, for the broker that carries the command out or for NO_BROKER. `now` is a
    monotonic clock in seconds. `timeout_s` limits each wait for brokers, in seconds. `queue_capacity` bounds the queue
    of a broker, `side_by_side` the partitions that this command works on at a time, and `in_flight` those of all
    commands. `report_progress` is called with progress messages.
    """

    monitor: StateChangeMonitor
    now: Callable[[], float]
    timeout_s: float = 30.0
    queue_capacity: int = 1000
    side_by_side: int = SIDE_BY_SIDE
    report_progress: Callable[[str], None] = lambda _: None
    in_flight: InFlightLimit = field(default_factory=lambda: InFlightLimit(SIDE_BY_SIDE))

    @property
    def at_once(self) -> int:
        """Partitions to work on at a time: at most half the capacity of a queue."""
        return max(1, min(self.side_by_side, self.queue_capacity // 2))

    def within_limit(self, partitions: int, work: Procedure[T]) -> Procedure[T]:
        """Run `work` once the in-flight limit allows that many partitions. Raises RequestError after the timeout."""
        until = self.now() + self.timeout_s
        while not self.in_flight.take(partitions):
            if self.now() >= until:
                work.close()
                message = f"Other commands keep the brokers busy; this one waited for {self.timeout_s:g} s."
                raise RequestError(Error.REQUEST_TIMED_OUT, message)
            yield Pause(self.now() + LOOK_AGAIN)
        try:
            return (yield from work)
        finally:
            self.in_flight.give(partitions)


class ProcedureExecutor(Protocol):
    """Executes the operations and waits of procedures."""

    async def run(self, steps: Steps[T]) -> T:
        """Run the steps and return their result.

        Raises SessionExpired when the session is over; the steps are closed then.
        """
        ...

    async def gone(self, paths: Collection[str], within: float) -> None:
        """Return when none of the znodes exists, or after `within` seconds. Raises SessionExpired."""
        ...


def _are_there(paths: Sequence[str]) -> Steps[Sequence[Outcome]]:
    """Return Present or Absent for each path. Reads of data are batched, plain existence checks are not."""
    outcomes = yield from run([Get(path) for path in paths])
    return [Present(outcome.stat) if isinstance(outcome, Found) else Absent() for outcome in outcomes]


async def carry_out(procedure: Procedure[T], executor: ProcedureExecutor, now: Callable[[], float]) -> T:
    """Run a procedure to its end and return its result.

    Raises RequestError, or SessionExpired when the session is over; the procedure is closed then.
    """
    outcomes: Sequence[Outcome]
    try:
        request = next(procedure)
        while True:
            match request:
                case Await(paths, until):
                    await executor.gone(paths, until - now())
                    outcomes = await executor.run(_are_there(paths))
                case Pause(until):
                    await asyncio.sleep(until - now())
                    outcomes = ()
                case _:
                    outcomes = await executor.run(run(request))
            request = procedure.send(outcomes)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        procedure.close()
