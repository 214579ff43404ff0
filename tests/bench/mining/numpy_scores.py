"""The same scores by numpy and Python alone: written from the papers, not from the Spark jobs.

The posterior has a finer grid, change points come of a plain recursion over exact gamma functions, causes of counts in
dictionaries. Memory and time grow with the number of runs in one process.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Counts:
    """Failures x and runs n by test and build, both in order; flips and pairs of neighbours by test."""

    x: Array
    n: Array
    flips: Array
    pairs: Array


def counted(test: npt.NDArray[np.int64], build: npt.NDArray[np.int64], failed: Array, started: Array) -> Counts:
    """Count conclusive runs; tests and builds are numbered from 0."""
    tests, builds = int(test.max()) + 1, int(build.max()) + 1
    cell = test * builds + build
    n = np.bincount(cell, minlength=tests * builds).reshape(tests, builds).astype(float)
    x = np.bincount(cell, weights=failed, minlength=tests * builds).reshape(tests, builds)
    order = np.lexsort((started, test))
    same = test[order][1:] == test[order][:-1]
    flip = same & (failed[order][1:] != failed[order][:-1])
    flips = np.bincount(test[order][1:], weights=flip, minlength=tests)
    return Counts(x, n, flips, np.bincount(test[order][1:], weights=same, minlength=tests))


def states(counts: Counts) -> list[str]:
    """Return healthy, flaky, broken or unsure for each test."""
    p = np.concatenate([np.geomspace(2e-4, 5e-3, 10), np.linspace(0.01, 0.93, 60)])
    weight = np.concatenate([np.full(10, 0.7 / 10), np.full(60, 0.3 / 60)])
    pi = np.array([0.002, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95])
    grid_p, grid_pi = np.meshgrid(p, pi)
    prior = np.log(np.broadcast_to(weight, grid_p.shape) / len(pi))
    found = []
    for x, n in zip(counts.x, counts.n, strict=True):
        log = prior.copy()
        newest = np.zeros_like(log)
        for failures, runs in zip(x, n, strict=True):
            if not runs:
                continue
            chance = (1 - grid_pi) * grid_p**failures * (1 - grid_p) ** (runs - failures)
            broken = grid_pi if failures == runs else np.zeros_like(grid_pi)
            log += np.log(chance + broken)
            newest = broken / (chance + broken)
        posterior = np.exp(log - log.max())
        posterior /= posterior.sum()
        healthy = (posterior * (1 - newest) * (grid_p < 0.01)).sum()
        flaky = (posterior * (1 - newest) * (grid_p >= 0.01)).sum()
        best = {"healthy": healthy, "flaky": flaky, "broken": 1 - healthy - flaky}
        state = max(best, key=lambda each: best[each])
        found.append(state if best[state] >= 0.9 else "unsure")
    return found


def change_points(x: Sequence[float], n: Sequence[float], first: int = 0, prior: float | None = None) -> Iterator[int]:
    """Yield the indices of the builds at which the rate changed; `prior` has the odds of a change at any one build."""
    if len(n) < 2:
        return
    prior = prior or 1 / 5 / (len(n) - 1)

    def likelihood(failures: float, runs: float) -> float:
        beta = math.lgamma(failures + 0.1) + math.lgamma(runs - failures + 0.1) - math.lgamma(runs + 0.2)
        return beta - 2 * math.lgamma(0.1) + math.lgamma(0.2)

    whole = likelihood(sum(x), sum(n))
    gains = [
        likelihood(sum(x[:at]), sum(n[:at])) + likelihood(sum(x[at:]), sum(n[at:])) - whole + math.log(prior)
        for at in range(1, len(n))
    ]
    best = max(range(len(gains)), key=gains.__getitem__) + 1
    if gains[best - 1] <= 0:
        return
    yield from change_points(x[:best], n[:best], first, prior)
    yield first + best
    yield from change_points(x[best:], n[best:], first + best, prior)


def causes(features: Sequence[frozenset[str]], tests: Sequence[int], failed: Sequence[bool]) -> list[frozenset[str]]:
    """Return the sets of one or two features that explain failures, each of the runs that the ones before leave.

    The score is that of Mantel and Haenszel over tests, with its continuity correction; 4.5 standard deviations count.
    """
    rows = list(zip(features, tests, failed, strict=True))
    found: list[frozenset[str]] = []
    while len(found) < 6:
        rest = [row for row in rows if not any(cause <= row[0] for cause in found)]
        all_n: dict[int, int] = defaultdict(int)
        all_x: dict[int, int] = defaultdict(int)
        cells: dict[frozenset[str], dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
        for present, test, fails in rest:
            all_n[test] += 1
            all_x[test] += fails
            names = sorted(present)
            for index, name in enumerate(names):
                for other in names[index:]:
                    cell = cells[frozenset((name, other))][test]
                    cell[0] += 1
                    cell[1] += fails
        best, score = None, 4.5
        for candidate, by_test in cells.items():
            observed = expected = variance = 0.0
            for test, (n1, x1) in by_test.items():
                n, x = all_n[test], all_x[test]
                if 0 < n1 < n and 0 < x < n:
                    observed += x1
                    expected += n1 * x / n
                    variance += n1 * (n - n1) * x * (n - x) / (n * n * (n - 1))
            z = (observed - expected - 0.5) / math.sqrt(variance) if variance else 0.0
            if observed >= 3 and z > score:
                best, score = candidate, z
        if best is None:
            break
        found.append(best)
    return found
