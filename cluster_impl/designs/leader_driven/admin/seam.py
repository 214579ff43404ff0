"""What an administrative command asks for: operations on znodes, as every core does, and time for others to act.

A procedure is a generator. It yields a batch of operations and is sent their outcomes, or yields `Await` and is sent
for each path whether it is there, once all are gone, or the time is over. A procedure that is closed
between two yields is a command whose process died there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from cluster_impl.coordination.steps import Absent, Found, Get, Operation, Outcome, Present, Steps, run
from cluster_impl.designs.leader_driven.state_changes.monitor import Monitor
from cluster_impl.wire.errors import Error

T = TypeVar("T")

NOBODY = -1
"""Who asks, where it is no broker."""


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


@dataclass(frozen=True, slots=True)
class Command:
    """What every procedure knows about the command that it is part of.

    `monitor` counts what is requested and says it in the log: that of the broker which carries the command out, or one
    of NOBODY. `now` is a monotonic clock in seconds. `patience`: how long one wait for brokers may take.
    `queue_capacity` bounds the queue of a broker, `side_by_side` how many partitions are in the making at a time, so
    that no queue is full of them alone. `tell` is told, in words, how far the command is.
    """

    monitor: Monitor
    now: Callable[[], float]
    patience: float = 30.0
    queue_capacity: int = 1000
    side_by_side: int = 200
    tell: Callable[[str], None] = lambda _: None

    @property
    def at_once(self) -> int:
        return max(1, min(self.side_by_side, self.queue_capacity // 2))


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
