"""Tests of association between a feature of runs and their failure, stratified, and corrected for their number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from fencepost.results.mining.formulas import fisher_tail, normal_tail
from fencepost.results.mining.groups import Flags, Floats, Groups, Numbers, ratio


@dataclass(frozen=True)
class Counts:
    """A row for each key and stratum: runs with the key and failures of them, and those of all runs of the stratum."""

    key: Numbers
    with_n: Numbers
    with_x: Numbers
    all_n: Numbers
    all_x: Numbers


@dataclass(frozen=True)
class Associations:
    """For each key how much more often runs fail with it than without it, by the order of keys.

    - runs, failures: those with the key. strata: the number of those that count.
    - elsewhere: the failures that the runs with the key would have had at the rates of the other runs of their strata.
    - odds_with / odds_without: the odds ratio of Mantel and Haenszel over all strata; none if no other run failed.
    - p_value: one-sided. With one stratum it is that of Fisher's exact test, and `exact` is true. With several it is
      that of Cochran, Mantel and Haenszel with a continuity correction; z is its normal score.
    """

    key: Numbers
    runs: Numbers
    failures: Numbers
    strata: Numbers
    elsewhere: Floats
    odds_with: Floats
    odds_without: Floats
    z: Floats
    exact: Flags
    p_value: Floats

    def of(self, chosen: Flags | Numbers) -> Associations:
        return Associations(*(each[chosen] for each in vars(self).values()))

    def followed_by(self, other: Associations) -> Associations:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Associations(*(np.concatenate(each) for each in pairs))

    def columns(self) -> dict[str, pa.Array]:
        """Return runs, failures, strata, rate_with, rate_without, lift (of both rates), odds_ratio, z, exact, p_value.

        Lift and odds ratio are null if what they divide by is 0.
        """
        return {
            "runs": pa.array(self.runs),
            "failures": pa.array(self.failures),
            "strata": pa.array(self.strata),
            "rate_with": pa.array(self.failures / self.runs),
            "rate_without": pa.array(self.elsewhere / self.runs),
            "lift": ratio(self.failures, self.elsewhere),
            "odds_ratio": ratio(self.odds_with, self.odds_without),
            "z": pa.array(self.z),
            "exact": pa.array(self.exact),
            "p_value": pa.array(self.p_value),
        }


def associated(counts: Counts) -> Associations:
    """Return the association of each key with failures.

    Only strata count in which some runs have the key and some have not, and some failed and some passed: no other one
    can say anything. Keys without such a stratum are left out.

    Source: N. Mantel and W. Haenszel, Statistical aspects of the analysis of data from retrospective studies, 1959.
    """
    telling = (counts.with_n > 0) & (counts.with_n < counts.all_n)
    telling &= (counts.all_x > 0) & (counts.all_x < counts.all_n)
    key, n1, x1, n, x = (each[telling] for each in vars(counts).values())
    other_n, other_x = n - n1, x - x1
    groups = Groups.of(key)
    expected = groups.sum(n1 * x / n)
    variance = groups.sum(n1 * (other_n / n) * x * ((n - x) / n) / (n - 1))
    failures, strata = groups.sum(x1), groups.sizes
    z = (failures - expected - 0.5) / np.sqrt(variance)
    exact = strata == 1
    tables = zip(*(groups.first(each).tolist() for each in (x1, n1, x, n)), strict=True)
    p_values = [
        fisher_tail(*table) if is_exact else normal_tail(score)
        for table, is_exact, score in zip(tables, exact.tolist(), z.tolist(), strict=True)
    ]
    return Associations(
        groups.first(key),
        groups.sum(n1),
        failures,
        strata,
        groups.sum(n1 * other_x / other_n),
        groups.sum(x1 * (other_n - other_x) / n),
        groups.sum((n1 - x1) * other_x / n),
        z,
        exact,
        np.array(p_values, dtype=float),
    )


def false_discovery_rates(p_values: Floats, number: int | None = None) -> Floats:
    """Return the least false discovery rate at which each row is a discovery, among all rows.

    It is the minimum of p m / rank over this and all higher ranks. m is the `number` of hypotheses, if the rows are
    only those that were chosen for what they show; else that of the rows.
    Source: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, 1995.
    """
    order = np.argsort(p_values, kind="stable")
    ascending = p_values[order]
    rank = np.searchsorted(ascending, ascending, side="right")
    scaled = ascending * (len(p_values) if number is None else number) / np.maximum(rank, 1)
    found = np.empty(len(p_values))
    found[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return found


def rates_of_families(p_values: Floats, family: Numbers) -> Floats:
    """Return the same among the rows of each family."""
    found = np.empty(len(p_values))
    groups = Groups.of(family)
    for start, size in zip(groups.start.tolist(), groups.sizes.tolist(), strict=True):
        rows = groups.order[start : start + size]
        found[rows] = false_discovery_rates(p_values[rows])
    return found
