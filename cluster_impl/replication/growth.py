"""When a leader's log grew: since when a follower lacks the first record that it lacks (`LagSince.FIRST_LACKING`)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

GRAIN = 0.02
"""The part of the lag limit by which a follower's time may be taken for shorter than it is."""


@dataclass(slots=True)
class _Stretch:
    """Records below `end` and from the end of the stretch before were written between two times."""

    end: int
    began: float
    ended: float


class Growth:
    """Remembers the appends of the last `limit` seconds, those close to each other as one. Times are seconds."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._stretches: list[_Stretch] = []
        self._long_ago = 0
        """What is below this offset was written more than `limit` seconds ago."""

    def grew(self, end: int, now: float) -> None:
        last = self._stretches[-1] if self._stretches else None
        if last is not None and now - last.began <= self._limit * GRAIN:
            last.end, last.ended = end, now
            return
        old = 0
        while old < len(self._stretches) and now - self._stretches[old].ended > self._limit:
            self._long_ago = self._stretches[old].end
            old += 1
        del self._stretches[:old]
        self._stretches.append(_Stretch(end, now, now))

    def written_at(self, offset: int) -> float:
        """When the record at `offset` was written at the latest; minus infinity if that is long ago."""
        if offset < self._long_ago:
            return float("-inf")
        at = bisect_right(self._stretches, offset, key=lambda stretch: stretch.end)
        return self._stretches[at].ended if at < len(self._stretches) else float("-inf")
