"""The build, or the day, from which on a test takes longer: from the medians that the pages show.

`change_points.slow_downs` has each single timing of the nodes; this one costs nothing and takes results of any suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, log
from statistics import fmean, pstdev
from typing import Final

from fencepost.results.mining.change_points import PRIOR_OF_SLOW_DOWN
from fencepost.results.mining.segments import TAIL

LEAST: Final = 3
"""The medians on each side of a change: a single one may be that of a busy machine."""
LEAST_RATIO: Final = 1.15
"""The ratio of the levels from which a change is worth a word."""
_K: Final = 1.0
_V: Final = 0.5
"""Weights of the priors of mean and variance, as in `change_points.slow_downs`."""


@dataclass(frozen=True)
class Step:
    """The first place of the new level, the interval of places that has it with 99 %, and both levels in seconds."""

    at: int
    low: int
    high: int
    before_s: float
    after_s: float


def step_of(seconds: Sequence[float]) -> Step | None:
    """Return the most probable change of the level of durations above 0 s; None if none is more probable.

    The model is that of `change_points.slow_downs` with the logarithms of the medians in place of ranks: means before
    and after it, one variance, conjugate priors, and prior odds that are shared by all places.
    """
    n = len(seconds)
    places = range(LEAST, n - LEAST + 1)
    if not places or min(seconds) <= 0:
        return None
    logs = [log(each) for each in seconds]
    spread, mean = pstdev(logs), fmean(logs)
    if spread < 1e-9:
        return None
    u = [(each - mean) / spread for each in logs]
    sums = [0.0, *accumulate(u)]
    squares = sum(each * each for each in u)
    odds = {}
    for place in places:
        parts = ((sums[place], place), (sums[n] - sums[place], n - place))
        rest = squares - sum(part * part / (_K + count) for part, count in parts)
        means = 0.5 * log(_K * (_K + n) / ((_K + place) * (_K + n - place)))
        whole = squares - sums[n] ** 2 / (_K + n)
        gain = means - (_V + n / 2) * log((_V + rest / 2) / (_V + whole / 2))
        odds[place] = gain + log(PRIOR_OF_SLOW_DOWN / (n - 1))
    at = max(odds, key=lambda place: odds[place])
    before, after = (exp(fmean(part)) for part in (logs[:at], logs[at:]))
    if odds[at] <= 0 or max(before, after) / min(before, after) < LEAST_RATIO:
        return None
    shares = list(accumulate(exp(odds[place] - odds[at]) for place in places))
    low = next(place for place, share in zip(places, shares, strict=True) if share >= TAIL * shares[-1])
    high = next(place for place, share in zip(places, shares, strict=True) if share >= (1 - TAIL) * shares[-1])
    return Step(at, low, high, before, after)
