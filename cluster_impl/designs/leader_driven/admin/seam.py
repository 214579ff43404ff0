"""What an administrative command asks for: operations on znodes, as every core does, and time for others to act.

A procedure is a generator. It yields a batch of operations and is sent their outcomes, or yields `Await` and is sent
for each path whether it is there, once all are gone, or the time is over. A procedure that is closed
between two yields is a command whose process died there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from cluster_impl.coordination.steps import Absent, Found, Get, Operation, Outcome, Present, Steps, run
from cluster_impl.designs.leader_driven.state_changes.monitor import Monitor
from cluster_impl.wire.errors import Error

T = TypeVar("T")

NOBODY = -1
"""Who asks, where it is no broker."""

SIDE_BY_SIDE = 200
"""Partitions that one command works on at a time."""

LOOK_AGAIN = 0.03
"""Seconds between two looks for what nobody tells of."""


@dataclass(frozen=True, slots=True)
class Await:
    """Until none of the znodes is left; no longer than `until` (clock of the command).

    Each outcome is Present or Absent, as it was when the wait was over.
    """

    paths: Sequence[str]
    until: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Until then, without outcomes: for what nobody tells of."""

    until: float


Asked = Sequence[Operation] | Await | Pause
Procedure = Generator[Asked, Sequence[Outcome], T]


@dataclass(slots=True)
class Room:
    """How many partitions may be in the making, or on their way out, at a time, in all commands that share it.

    Each puts at most one request into the queue of a broker, so no queue is full of them alone.
    """

    free: int

    def take(self, partitions: int) -> bool:
        if self.free < partitions:
            return False
        self.free -= partitions
        return True

    def give(self, partitions: int) -> None:
        self.free += partitions


@dataclass(frozen=True, slots=True)
class Command:
    """What every procedure knows about the command that it is part of.

    `monitor` counts what is requested and says it in the log: that of the broker which carries the command out, or one
    of NOBODY. `now` is a monotonic clock in seconds. `patience`: how long one wait for brokers may take.
    `queue_capacity` bounds the queue of a broker, `side_by_side` how many partitions this command works on at a time,
    and `room` how many all commands do. `tell` is told, in words, how far the command is.
    """

    monitor: Monitor
    now: Callable[[], float]
    patience: float = 30.0
    queue_capacity: int = 1000
    side_by_side: int = SIDE_BY_SIDE
    tell: Callable[[str], None] = lambda _: None
    room: Room = field(default_factory=lambda: Room(SIDE_BY_SIDE))

    @property
    def at_once(self) -> int:
        return max(1, min(self.side_by_side, self.queue_capacity // 2))

    def in_room(self, partitions: int, work: Procedure[T]) -> Procedure[T]:
        """The work, once there is room for so many partitions. Raises Failed if there is none in time."""
        until = self.now() + self.patience
        while not self.room.take(partitions):
            if self.now() >= until:
                work.close()
                sentence = f"Other commands keep the brokers busy; nothing more was done in {self.patience:g} s."
                raise Failed(Error.REQUEST_TIMED_OUT, sentence)
            yield Pause(self.now() + LOOK_AGAIN)
        try:
            return (yield from work)
        finally:
            self.room.give(partitions)


class Failed(Exception):
    """The command did not come to its end: Kafka's error code, and a sentence that says what is left."""

    def __init__(self, error: Error, sentence: str) -> None:
        super().__init__(sentence)
        self.error = error


class Seam(Protocol):
    """Who executes what procedures ask for."""

    async def run(self, steps: Steps[T]) -> T:
        """Raises SessionExpired when the session is over; the steps are closed then."""
        ...

    async def gone(self, paths: Collection[str], within: float) -> None:
        """Returns when none of them is there, and when so many seconds are over. Raises SessionExpired."""
        ...


def _are_there(paths: Sequence[str]) -> Steps[Sequence[Outcome]]:
    """Of reads, those of data travel together."""
    outcomes = yield from run([Get(path) for path in paths])
    return [Present(each.stat) if isinstance(each, Found) else Absent() for each in outcomes]


async def carry_out(procedure: Procedure[T], seam: Seam, now: Callable[[], float]) -> T:
    """A procedure to its end. Raises Failed, or SessionExpired when the session is over; it is closed then."""
    outcomes: Sequence[Outcome]
    try:
        asked = next(procedure)
        while True:
            match asked:
                case Await(paths, until):
                    await seam.gone(paths, until - now())
                    outcomes = await seam.run(_are_there(paths))
                case Pause(until):
                    await asyncio.sleep(until - now())
                    outcomes = ()
                case _:
                    outcomes = await seam.run(run(asked))
            asked = procedure.send(outcomes)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        procedure.close()
