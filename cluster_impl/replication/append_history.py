"""The times at which a leader's log grew, from which a follower's lag is counted (`LagSince.FIRST_MISSING`)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

GRAIN = 0.02
"""Resolution of the history, as a share of the lag limit: a follower's lag may be underestimated by this much."""


@dataclass(slots=True)
class _Interval:
    """The records between the end of the interval before and `end`, written from `began` to `ended`."""

    end: int
    began: float
    ended: float


class AppendHistory:
    """The appends of the last `limit` seconds; appends close to each other count as one. Times are seconds."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._intervals: list[_Interval] = []
        self._long_ago = 0
        """Records below this offset were written more than `limit` seconds ago."""

    def grew(self, end: int, now: float) -> None:
        last = self._intervals[-1] if self._intervals else None
        if last is not None and now - last.began <= self._limit * GRAIN:
            last.end, last.ended = end, now
            return
        old = 0
        while old < len(self._intervals) and now - self._intervals[old].ended > self._limit:
            self._long_ago = self._intervals[old].end
            old += 1
        del self._intervals[:old]
        self._intervals.append(_Interval(end, now, now))

    def written_at(self, offset: int) -> float:
        """Return the latest time at which the record at `offset` can have been written; -inf if that is long ago."""
        if offset < self._long_ago:
            return float("-inf")
        at = bisect_right(self._intervals, offset, key=lambda interval: interval.end)
        return self._intervals[at].ended if at < len(self._intervals) else float("-inf")
