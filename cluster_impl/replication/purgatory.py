"""Requests that wait for the log to grow or to be committed.

There are no tasks: a waiting request is a future, one timer of the event loop, and an entry at each partition that
it waits for. An event at a partition touches only the entries that it decides.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from fencepost.cluster_impl.wire.errors import Error

Response = TypeVar("Response")


@dataclass(order=True, slots=True)
class Acknowledgement:
    """An append of one partition that waits for the high watermark to reach `required_offset`."""

    required_offset: int
    led_since: int
    order: int
    decided: Callable[[Error], None] = field(compare=False)


class Acknowledgements:
    """The waiting appends of one partition. Those with the lowest offset are decided first."""

    def __init__(self) -> None:
        self._heap: list[Acknowledgement] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._heap)

    def wait(self, required_offset: int, led_since: int, decided: Callable[[Error], None]) -> Acknowledgement:
        self._order += 1
        waiting = Acknowledgement(required_offset, led_since, self._order, decided)
        heapq.heappush(self._heap, waiting)
        return waiting

    def decide(self, decision: Callable[[int, int], Error | None]) -> None:
        """Answer the appends for which `decision(required_offset, led_since)` returns an error code, until it returns
        None for one."""
        while self._heap:
            error = decision(self._heap[0].required_offset, self._heap[0].led_since)
            if error is None:
                return
            heapq.heappop(self._heap).decided(error)

    def forget(self, waiting: Acknowledgement) -> None:
        """Drop an entry whose request gave up."""
        if waiting in self._heap:
            self._heap.remove(waiting)
            heapq.heapify(self._heap)


class Wakeable(Protocol):
    """A waiting request that tries again after an event at a partition."""

    def wake(self) -> None: ...


class Purgatory:
    """The requests that wait at one partition, by the event that each waits for."""

    def __init__(self) -> None:
        self.acknowledgements = Acknowledgements()
        self.growth: set[Wakeable] = set()
        """Fetches of followers, which wait for any records."""
        self.commits: set[Wakeable] = set()
        """Fetches of clients, which wait for committed records."""
        self.deletions: set[Wakeable] = set()
        """Deletions of records that wait until all in-sync replicas have made them."""

    def grown(self) -> None:
        for fetch in self.growth:
            fetch.wake()

    def committed(self, decision: Callable[[int, int], Error | None]) -> None:
        """Answer the appends that `decision` decides, as `Acknowledgements.decide` does, and wake the clients."""
        self.acknowledgements.decide(decision)
        for fetch in self.commits:
            fetch.wake()

    def start_advanced(self) -> None:
        """Wake the deletions: the start of this log or of a follower's may have moved."""
        for deletion in self.deletions:
            deletion.wake()


class DelayedFetch(Generic[Response]):
    """A fetch with too few bytes for a response yet. It is a member of each set of `watched` while it waits.

    `attempt(last)` reads again and returns the response, or None if that is still too little; at the last attempt, when
    the time is over, it returns one in any case. Growth of several partitions in one turn of the loop is one attempt.
    """

    def __init__(
        self, watched: Sequence[set[Wakeable]], max_wait: float, attempt: Callable[[bool], Response | None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Response] = self._loop.create_future()
        self._watched = watched
        self._attempt = attempt
        self._woken = False
        for waiting in watched:
            waiting.add(self)
        self._timer = self._loop.call_later(max_wait, self._try, True)
        self.future.add_done_callback(self._leave)

    def wake(self) -> None:
        if not self._woken:
            self._woken = True
            self._loop.call_soon(self._try, False)

    def _try(self, last: bool) -> None:
        self._woken = False
        if self.future.done():
            return
        try:
            response = self._attempt(last)
        except Exception as error:
            self.future.set_exception(error)
            return
        if response is not None:
            self.future.set_result(response)

    def _leave(self, _: asyncio.Future[Response]) -> None:
        self._timer.cancel()
        for waiting in self._watched:
            waiting.discard(self)
