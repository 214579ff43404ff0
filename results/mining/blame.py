"""The probability that a branch made a test fail, and not what the base has as well; the reruns that would say more."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import product
from typing import Any, Final

from fencepost.results.mining.flakiness import FLAKY_RATES, HEALTHY_RATES, SURE

PRIOR: Final = 0.05
"""The probability that a branch breaks a test that failed on it, before anything is known of the test."""
_SHARES: Final = {0.0: 0.9, **dict.fromkeys((0.01, 0.03, 0.1, 0.3, 0.6, 0.95), 0.1 / 6)}
_RATES: Final = {
    **dict.fromkeys(HEALTHY_RATES, 0.7 / len(HEALTHY_RATES)),
    **dict.fromkeys(FLAKY_RATES, 0.3 / len(FLAKY_RATES)),
}
"""The grid: shares of builds of the base on which a test is broken, and rates of failures elsewhere, with priors.

It is that of `flakiness`, but most tests are taken to be broken nowhere: a base has few runs of a build, often one.
"""
CERTAIN: Final = 0.95
"""The probability from which reruns tell a broken test from a flaky one."""
MOST_RERUNS: Final = 50


class Blame(StrEnum):
    """The origin of a failure of a branch."""

    NEW = "new"
    BROKEN = "broken on the base as well"
    FLAKE = "a known flake"
    UNSURE = "unsure"


@dataclass(frozen=True)
class BuildOfBase:
    """The attempts of a test on one build of the base, in the order of time."""

    attempts: int
    failed: int


@dataclass(frozen=True)
class Failure:
    """A test that failed on a branch, and what the base has of it.

    - of_head: the columns of the test, its newest failure there, and the numbers of its runs and attempts.
    - builds: those of the base, the oldest first; base_runs and base_failures are runs, `same` the failed attempts with
      the same signature. since: the change that made the base worse, else its first failed build; None without one.
    """

    of_head: dict[str, Any]
    builds: Sequence[BuildOfBase] = ()
    base_runs: int = 0
    base_failures: int = 0
    same: int = 0
    since: str | None = None

    @cached_property
    def _weights(self) -> list[_At]:
        return list(_posterior(_merged(self.builds)))

    @property
    def new(self) -> float:
        """Return the probability that the branch made it fail: broken, or flaky where it was not.

        Against it stands that it behaves as on the base: broken there, or failing as often as its builds do there.
        """
        attempts, failed = self.of_head["attempts"], self.of_head["failed_attempts"]
        own = PRIOR * (_is_broken(attempts, failed) + _newly_flaky(attempts, failed)) / 2
        of_base = self._broken_as_on_base * _is_broken(attempts, failed) + self._flaky_as_on_base(attempts, failed)
        return own / (own + (1 - PRIOR) * of_base)

    @cached_property
    def _broken_as_on_base(self) -> float:
        return sum(at.weight * (at.broken + (1 - at.broken) * at.share) for at in self._weights)

    def _flaky_as_on_base(self, attempts: int, failed: int) -> float:
        return sum(
            at.weight * (1 - at.broken) * (1 - at.share) * _chance(at.rate, attempts, failed) for at in self._weights
        )

    @property
    def broken_on_base(self) -> float:
        """Return the probability that the newest build of the base fails each time."""
        return sum(at.weight * at.broken for at in self._weights)

    @property
    def blame(self) -> Blame:
        if self.new >= SURE:
            return Blame.NEW
        if self.broken_on_base >= SURE:
            return Blame.BROKEN
        return Blame.FLAKE if self.new <= 0.5 and any(each.failed for each in self.builds) else Blame.UNSURE

    @property
    def reruns(self) -> int | None:
        """Return how many reruns tell a broken test from a flaky one: if all fail it is broken with CERTAIN.

        0 if it is known, None if MOST_RERUNS would not do.
        """
        attempts, failed = self.of_head["attempts"], self.of_head["failed_attempts"]
        if failed < attempts or self.broken_on_base >= SURE:
            return 0
        broken = PRIOR / 2 + (1 - PRIOR) * self._broken_as_on_base
        for reruns in range(MOST_RERUNS + 1):
            tried = attempts + reruns
            flaky = PRIOR / 2 * _newly_flaky(tried, tried) + (1 - PRIOR) * self._flaky_as_on_base(tried, tried)
            if broken / (broken + flaky) >= CERTAIN:
                return reruns
        return None


def _chance(rate: float, attempts: int, failed: int) -> float:
    return float(rate**failed * (1 - rate) ** (attempts - failed))


def _is_broken(attempts: int, failed: int) -> float:
    return float(failed == attempts)


def _newly_flaky(attempts: int, failed: int) -> float:
    return sum(_chance(rate, attempts, failed) for rate in FLAKY_RATES) / len(FLAKY_RATES)


@dataclass(frozen=True)
class _At:
    """A point of the grid: its weight, and the probability that the newest build of the base is broken there."""

    weight: float
    share: float
    rate: float
    broken: float


def _merged(builds: Sequence[BuildOfBase]) -> list[BuildOfBase]:
    """Return the builds, those in a row that only failed as one: what breaks a test stays until it is mended."""
    found: list[BuildOfBase] = []
    for each in builds:
        if found and _is_broken(each.attempts, each.failed) and _is_broken(found[-1].attempts, found[-1].failed):
            before = found.pop()
            each = BuildOfBase(before.attempts + each.attempts, before.failed + each.failed)
        found.append(each)
    return found


def _posterior(builds: Sequence[BuildOfBase]) -> Iterator[_At]:
    points = list(product(_SHARES, _RATES))
    logs = []
    for share, rate in points:
        likelihoods = (
            share * _is_broken(each.attempts, each.failed) + (1 - share) * _chance(rate, each.attempts, each.failed)
            for each in builds
        )
        prior = math.log(_SHARES[share] * _RATES[rate])
        logs.append(prior + sum(math.log(max(each, 1e-300)) for each in likelihoods))
    top = max(logs)
    weights = [math.exp(each - top) for each in logs]
    for (share, rate), weight in zip(points, weights, strict=True):
        broken = 0.0
        if builds and _is_broken(builds[-1].attempts, builds[-1].failed):
            by_chance = (1 - share) * _chance(rate, builds[-1].attempts, builds[-1].failed)
            broken = share / (share + by_chance) if share else 0.0
        yield _At(weight / sum(weights), share, rate, broken)
