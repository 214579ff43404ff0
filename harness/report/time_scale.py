"""The time axis of a timeline: long stretches in which nothing changes are folded to a narrow strip."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

SHORTEST_SECONDS = 4.0
SHORTEST_SHARE = 0.12
"""Stretches below these seconds, or below this share of the run, are never folded."""
STRIP = 0.035
"""Width of a folded stretch, as a share of the axis."""
MARGIN_SECONDS = 0.4
"""Time on each side of a stretch that is not folded, so that the shapes at its edges stay visible."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A stretch of time that is shown as a strip."""

    start: float
    end: float


class TimeScale:
    """Maps seconds to places on an axis of the length `width`: linear between the folds, and linear within each."""

    def __init__(self, duration: float, width: float, folds: Sequence[Fold] = ()) -> None:
        self.duration = duration
        self.width = width
        self.folds = tuple(folds)
        strip = width * STRIP
        rest = duration - sum(fold.end - fold.start for fold in folds)
        self.per_second = (width - strip * len(folds)) / max(rest, 1e-9)
        self.knots: list[tuple[float, float]] = [(0.0, 0.0)]
        for fold in folds:
            begun = self.knots[-1][1] + (fold.start - self.knots[-1][0]) * self.per_second
            self.knots += [(fold.start, begun), (fold.end, begun + strip)]
        self.knots.append((duration, width))
        self._times = [t for t, _ in self.knots]

    def x(self, t: float) -> float:
        """Return the place of a time; times outside the run are at its ends."""
        t = min(max(t, 0.0), self.duration)
        after = min(max(bisect_right(self._times, t), 1), len(self.knots) - 1)
        (t0, x0), (t1, x1) = self.knots[after - 1], self.knots[after]
        return x0 + (x1 - x0) * (t - t0) / (t1 - t0) if t1 > t0 else x0

    def ticks(self) -> list[float]:
        """Return the round times of the axis that are about 100 apart and not within a fold."""
        steps = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
        wanted = max(self.width / 11, 60) / self.per_second
        step = next((step for step in steps if step >= wanted), wanted)
        times = (step * number for number in range(int(self.duration / step) + 1))
        return [t for t in times if not any(fold.start < t < fold.end for fold in self.folds)]


def folds_of(duration: float, changes: Iterable[float]) -> tuple[Fold, ...]:
    """Return the stretches to fold: those between two of the `changes`, or the ends, that are long enough."""
    shortest = max(SHORTEST_SECONDS, SHORTEST_SHARE * duration)
    times = sorted({0.0, duration, *(t for t in changes if 0 < t < duration)})
    return tuple(
        Fold(a + MARGIN_SECONDS, b - MARGIN_SECONDS)
        for a, b in pairwise(times)
        if b - a >= shortest + 2 * MARGIN_SECONDS
    )
