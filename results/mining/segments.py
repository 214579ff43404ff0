"""Split histories over builds into segments: each at its most probable change, and its parts again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from fencepost.results.mining.groups import Flags, Floats, Numbers

TAIL: Final = 0.005
"""The probability left out on each side of the interval: together it has 99 %."""
LEVELS: Final = 4
"""How often segments are split again: a test has at most 2^4 - 1 changes, more than a window of some months needs."""
Gain = Callable[[Floats, Floats, Floats], Floats]
"""The log likelihood of a change at each build, less that of none; it gets the sums (a row for each, a column for each
build) over the builds before it, over it and the later ones, and over all."""


@dataclass(frozen=True)
class Changes:
    """Changes by the rows of their builds: the probable first one with the new rate, and the interval that has it.

    `before` and `after` have the sums of the segments beside each change, a row for each sum.
    """

    at: Numbers
    low: Numbers
    high: Numbers
    certainty: Floats
    before: Floats
    after: Floats


def segmented(key: Numbers, sums: Floats, gain: Gain, prior: float) -> Changes:
    """Return the change points of histories: a column of `sums` for each build, in order; `key` has its history.

    `prior` has the odds that a history has a change. All its builds after the first one share them equally: a long
    history would else have more false changes than a short one. A segment is split at the build where gain +
    ln(prior / (builds - 1)) is greatest, if that is above 0.
    """
    whole = _Histories.of(key, sums, gain, prior)
    begins = whole.split(whole.begins)
    # A history that is not split as a whole has no change; most have none.
    splits = np.unique(key[begins & ~whole.begins])
    rows = np.flatnonzero(np.isin(key, splits))
    some = _Histories.of(key[rows], sums[:, rows], gain, prior)
    begins = begins[rows]
    for _ in range(LEVELS - 1):
        begins = some.split(begins)
    found = some.placed(begins)
    return Changes(rows[found.at], rows[found.low], rows[found.high], found.certainty, found.before, found.after)


@dataclass(frozen=True)
class _Histories:
    """Histories one after another: where each begins, the sums up to each build, and the prior log odds of a place."""

    begins: Flags
    up_to: Floats
    odds: Floats
    gain: Gain

    @classmethod
    def of(cls, key: Numbers, sums: Floats, gain: Gain, prior: float) -> _Histories:
        begins = np.append(True, key[1:] != key[:-1])[: len(key)]
        start, end = _spans(begins)
        # A history of one build has no place for a change, and no gain.
        odds = math.log(prior) - np.log(np.maximum(end - start - 1, 1))
        up_to = np.concatenate([np.zeros((len(sums), 1)), np.cumsum(sums, axis=1)], axis=1)
        return cls(begins, up_to, odds, gain)

    def split(self, begins: Flags) -> Flags:
        """Split each segment at its most probable change, if there is one."""
        start, end = _spans(begins)
        rows = np.arange(len(begins))
        gains = self._gains(rows, start, end)
        first = np.flatnonzero(begins)
        best = np.maximum.reduceat(gains, first)[np.cumsum(begins) - 1]
        found = np.flatnonzero((gains == best) & (best > 0))
        found = found[np.append(True, start[found][1:] != start[found][:-1])[: len(found)]]
        changed = begins.copy()
        changed[found] = True
        return changed

    def placed(self, begins: Flags) -> Changes:
        """Return the changes with their intervals, each from the two segments beside it.

        A change that another one has made improbable is left out.
        """
        start, end = _spans(begins)
        point = np.flatnonzero(begins & ~self.begins)
        first, last = start[point - 1], end[point]
        size = last - first
        opens = np.cumsum(size) - size
        of = np.repeat(np.arange(len(point)), size)
        rows = np.arange(len(of)) - opens[of] + first[of]
        gains = self._gains(rows, first[of], last[of])
        best = np.maximum.reduceat(gains, opens)
        weight = np.exp(np.minimum(gains - best[of], 0.0))
        weights = np.append(0.0, np.cumsum(weight))
        share = (weights[1:] - weights[opens][of]) / (weights[opens + size] - weights[opens])[of]

        def earliest(chosen: Flags) -> Numbers:
            there = np.where(chosen, np.arange(len(of)), len(of) - 1)
            found: Numbers = rows[np.minimum.reduceat(there, opens)]
            return found

        kept = best > 0
        return Changes(
            earliest(gains == best[of])[kept],
            earliest(share >= TAIL)[kept],
            earliest(share >= 1 - TAIL)[kept],
            best[kept],
            (self.up_to[:, point] - self.up_to[:, first])[:, kept],
            (self.up_to[:, last] - self.up_to[:, point])[:, kept],
        )

    def _gains(self, rows: Numbers, start: Numbers, end: Numbers) -> Floats:
        """Return the log odds of a change at each of the rows, in the window from `start` to before `end`."""
        left, whole = (self.up_to[:, each] - self.up_to[:, start] for each in (rows, end))
        inside = rows > start
        found = np.full(len(rows), -np.inf)
        found[inside] = (
            self.gain(left[:, inside], (whole - left)[:, inside], whole[:, inside]) + self.odds[rows[inside]]
        )
        return found


def _spans(begins: Flags) -> tuple[Numbers, Numbers]:
    """Return for each row where its segment begins, and the row after its end."""
    first = np.flatnonzero(begins)
    size = np.diff(np.append(first, len(begins)))
    return np.repeat(first, size), np.repeat(first + size, size)
