"""The confidence interval of a rate that was measured in a few runs."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

LEVEL = 0.95


def wilson(hits: int, runs: int, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's score interval for the rate behind `hits` of `runs`; (0, 1) without any runs.

    It keeps its level for few runs and for rates near 0 and 1, where the textbook interval collapses to a point.
    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, 1927.
    """
    if not 0 <= hits <= runs:
        raise ValueError(f"{hits} of {runs} runs is not a count")
    if runs == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate, weight = hits / runs, z * z / runs
    centre = (rate + weight / 2) / (1 + weight)
    half_width = z * sqrt(rate * (1 - rate) / runs + weight / runs / 4) / (1 + weight)
    # At the ends the terms cancel; the rounding error that is left would exclude the measured rate.
    return 0.0 if hits == 0 else centre - half_width, 1.0 if hits == runs else centre + half_width
