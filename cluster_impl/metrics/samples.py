"""The numbers that parts of a node count, without any library: a node without the endpoint pays for plain additions."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

WINDOW_S = 60
"""The time over which a rate is taken."""

LATENCY_BOUNDS_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class Kind(Enum):
    """The type of a sample, as Prometheus names it."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric now. `buckets` are the cumulative counts of a histogram by upper bound; its value is the sum."""

    name: str
    document: str
    value: float
    kind: Kind = Kind.GAUGE
    buckets: Sequence[tuple[str, float]] = ()


class Meter:
    """Counts events, and tells how many there were for each second of the last WINDOW_S seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = 0
        self._clock = clock
        self._began = clock()
        self._seconds: deque[tuple[int, int]] = deque()
        """Each second in which something happened, and the count of it."""

    def add(self, count: int = 1) -> None:
        """Count events that happen now."""
        second = int(self._clock())
        self.total += count
        if self._seconds and self._seconds[-1][0] == second:
            count += self._seconds.pop()[1]
        self._seconds.append((second, count))
        self._forget()

    def rate(self) -> float:
        """Return events for each second, over the window or over the life of a younger meter."""
        self._forget()
        age = max(1.0, min(WINDOW_S, self._clock() - self._began))
        return sum(count for _, count in self._seconds) / age

    def _forget(self) -> None:
        while self._seconds and self._seconds[0][0] <= self._clock() - WINDOW_S:
            self._seconds.popleft()


class Latencies:
    """A histogram of latencies in milliseconds."""

    def __init__(self) -> None:
        self.sum_ms = 0.0
        self._counts = [0] * (len(LATENCY_BOUNDS_MS) + 1)

    def add(self, seconds: float) -> None:
        """Count one latency."""
        self.sum_ms += seconds * 1000
        self._counts[bisect_left(LATENCY_BOUNDS_MS, seconds * 1000)] += 1

    def buckets(self) -> list[tuple[str, float]]:
        """Return the cumulative count for each upper bound, the last of which is infinite."""
        found, total = [], 0
        for bound, count in zip([*map(str, LATENCY_BOUNDS_MS), "+Inf"], self._counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found
