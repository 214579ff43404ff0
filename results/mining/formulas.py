"""Formulas of statistics for arrays of counts: numpy has neither lgamma nor erfc."""

import math
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

Z95: Final = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: 95 % intervals are two-sided."""
_SHIFT: Final = 8
_LEAST: Final = 1e-300


def wilson(hits: Array, runs: Array, z: float = Z95) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's score interval for the rate behind `hits` of `runs`; 0 and 1 without any runs.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927.
    """
    n = np.maximum(runs, 1).astype(float)
    p = hits / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    spread = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (
        np.where(runs > 0, np.maximum(0.0, centre - spread), 0.0),
        np.where(runs > 0, np.minimum(1.0, centre + spread), 1.0),
    )


def entropy(p: Floats) -> Floats:
    """Return the binary entropy -p log2 p - (1-p) log2 (1-p) in bits; 0 for a rate of 0 or 1."""

    def part(q: Floats) -> Floats:
        return np.where(q > 0, -q * np.log2(np.where(q > 0, q, 1.0)), 0.0)

    return part(p) + part(1 - p)


def log_gamma(x: Array) -> Floats:
    """Return ln Gamma(x) for x > 0, within 1e-9: Stirling's series at x + 8, less ln (x (x+1) ... (x+7)).

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.1.41 and 6.1.15.
    """
    z = x + _SHIFT
    series = (1 / 12 - (1 / 360 - 1 / (1260 * z * z)) / (z * z)) / z
    below = np.prod([x + step for step in range(_SHIFT)], axis=0)
    found: Floats = (z - 0.5) * np.log(z) - z + 0.5 * math.log(2 * math.pi) + series - np.log(below)
    return found


def normal_tail(z: float) -> float:
    """Return P(N > z); at least 1e-300."""
    return max(math.erfc(z / math.sqrt(2)) / 2, _LEAST)


@cache
def fisher_tail(both: int, first: int, second: int, total: int) -> float:
    """Return the one-sided p-value of Fisher's exact test: P(overlap >= `both`) of two random sets of a `total`.

    The sets have `first` and `second` items. At least 1e-300; 1 if the overlap is not above its expectation.
    Source: R. A. Fisher, The logic of inductive inference, 1935.
    """
    if both * total <= first * second:
        return 1.0

    def log_ways(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    one = log_ways(first, both) + log_ways(total - first, second - both) - log_ways(total, second)
    # The terms are multiples of the first one, which may be too small for a float; they only become smaller.
    multiple = term = 1.0
    for k in range(both + 1, min(first, second) + 1):
        term *= (first - k + 1) * (second - k + 1) / (k * (total - first - second + k))
        if term < multiple * 1e-17:
            break
        multiple += term
    return min(1.0, math.exp(max(one + math.log(multiple), math.log(_LEAST))))
