"""Since which build a test fails more often or less, or takes longer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fencepost.results.mining.formulas import log_gamma
from fencepost.results.mining.groups import NOTHING, Floats, Groups, Numbers, keyed, numbers, ranks
from fencepost.results.mining.identity import HARNESS, TARGET, TEST, Build, ordered_builds
from fencepost.results.mining.segments import Changes, segmented

PRIOR_OF_CHANGE: Final = 1 / 5
"""The prior odds that a history of verdicts has a change (decision 0056)."""
PRIOR_OF_SLOW_DOWN: Final = 3 / 100
"""The prior odds that a series of timings has one: a test has several series."""
_A = _B = 0.1
"""The beta prior of a rate: most tests nearly always pass, or nearly always fail."""
_K: Final = 1.0
"""The prior of a mean of ranks has the weight of so many timings."""
_V: Final = 0.5
"""The prior of the variance of ranks has the weight of 2 V timings of variance 1."""


def change_points(tests: pa.Table, builds: pa.Table, sort: str, *, prior: float = PRIOR_OF_CHANGE) -> pa.Table:
    """Return the builds of one sort (`identity.TARGET`, `HARNESS`) at which the rate of violations changed.

    `tests` and `builds` are those of each day, by `flakiness.outcomes_by_day` and `identity.builds_by_day`.

    Columns beside test, target, backend: build (the probable first one with the new rate), build_number,
    first_run_at, low_build and high_build (the interval that has it with 99 %), low_number and high_number,
    direction (`worse`, `better`), rate_before, rate_after, runs_before, runs_after (of the segments beside it) and
    certainty (log of the odds of change against none).

    Violations are counted among passes and violations. Builds are in the order of their first run. With
    l(x, n) = ln B(x+a, n-x+b) - ln B(a, b), a segment is split where l(left) + l(right) - l(all) + ln(prior / places)
    is greatest and above 0, and so are its parts; `prior` has the odds that a history has a change, and its builds
    after the first one are the places for it.
    Source: change point analysis of Chromium's LUCI (a binomial model with a beta prior).
    """
    test, keys = keyed(tests, TEST)
    n, x = (numbers(tests, name) for name in ("n", "x"))
    # A history in which all runs are alike has no change: two rates never make it more likely than one.
    all_n, all_x = (np.bincount(test, each, keys.num_rows) for each in (n, x))
    both = ((all_x > 0) & (all_x < all_n))[test] & (n > 0)
    test, n, x = test[both], n[both], x[both]
    ordered = ordered_builds(builds, sort)
    known = {(each.target, each.hash): place for place, each in enumerate(ordered)}
    target, names = ranks(keys["target"])
    hashes = numbers(tests, "commit" if sort == HARNESS else "build", NOTHING)[both]
    build = np.full(len(test), -1)
    for number, name in enumerate(names.to_pylist()):
        of_target = target[test] == number
        pairs = {hash: place for (where, hash), place in known.items() if where == name}
        sorted_hashes = np.array(sorted(pairs), dtype=np.int64)
        places = np.array([pairs[each] for each in sorted_hashes.tolist()] + [-1])
        at = np.searchsorted(sorted_hashes, hashes[of_target])
        there = np.append(sorted_hashes, NOTHING)[at] == hashes[of_target]
        build[of_target] = np.where(there, places[at], -1)
    units = _Units.of(test, build, ordered, {"n": n, "x": x})
    changes = segmented(units.key, units.sums, _of_rates, prior)
    (n_before, x_before), (n_after, x_after) = changes.before, changes.after
    before, after = x_before / np.maximum(n_before, 1), x_after / np.maximum(n_after, 1)
    columns = {
        "rate_before": pa.array(before),
        "rate_after": pa.array(after),
        "runs_before": pa.array(n_before.astype(np.int64)),
        "runs_after": pa.array(n_after.astype(np.int64)),
    }
    return units.table(keys, changes, ordered, after > before, columns)


def slow_downs(timings: pa.Table, builds: pa.Table) -> pa.Table:
    """Return the builds of the target at which a timing of a test became slower or faster.

    `timings` are those of `times.durations`. Columns beside test, target, backend, timing: as `change_points` has, with
    seconds_before and seconds_after (geometric means) in place of rates, and times_before and times_after in place of
    runs.

    Timings of passes are compared by their ranks r among the n of their series, as u = (r / (n + 1) - 1/2) sqrt(12):
    one outlier is one high rank, and no distribution of durations is assumed. The means of u in both parts of a segment
    are then compared under a normal model with one variance, which has conjugate priors: with R the residual sum of
    squares about the means, and k = K / (K + timings) for each part, the log odds are
    1/2 ln(k(left) k(right) / k(all)) - (V + n/2) ln((V + R(split) / 2) / (V + R(all) / 2)) + ln(prior / places).
    Sources: W. J. Conover and R. L. Iman, Rank transformations as a bridge between parametric and nonparametric
    statistics, 1981; K. P. Murphy, Conjugate Bayesian analysis of the Gaussian distribution, 2007.
    """
    timed = timings.filter(pc.equal(timings["verdict"], "pass"))
    key, keys = keyed(timed, (*TEST, "timing"))
    seconds: Any = timed["seconds"].to_numpy()
    ordered = ordered_builds(builds, TARGET)
    places = {(each.target, each.build): place for place, each in enumerate(ordered)}
    pair, pairs = keyed(timed, ("target", "build"))
    of_pair = [places.get((each["target"], each["build"]), -1) for each in pairs.to_pylist()]
    build = np.array(of_pair, dtype=np.int64)[pair]
    series = Groups.sorted_by(1, key, seconds, build)
    equal = Groups.of(key[series.order], seconds[series.order])
    # Equal timings have the mean of their ranks.
    rank = np.repeat(series.places[equal.start] + (equal.sizes + 1) / 2, equal.sizes)
    u = (rank / (np.repeat(series.sizes, series.sizes) + 1) - 0.5) * math.sqrt(12)
    seconds = seconds[series.order]
    sums = {"n": np.ones(len(u)), "u": u, "squares": u * u, "logs": np.log(seconds)}
    units = _Units.of(key[series.order], build[series.order], ordered, sums)
    changes = segmented(units.key, units.sums, _of_ranks, PRIOR_OF_SLOW_DOWN)
    (n_before, _, _, logs_before), (n_after, _, _, logs_after) = changes.before, changes.after
    before, after = np.exp(logs_before / n_before), np.exp(logs_after / n_after)
    columns = {
        "seconds_before": pa.array(before),
        "seconds_after": pa.array(after),
        "times_before": pa.array(n_before.astype(np.int64)),
        "times_after": pa.array(n_after.astype(np.int64)),
    }
    return units.table(keys, changes, ordered, after > before, columns)


@dataclass(frozen=True)
class _Units:
    """The sums of each build in each history: its key, its build, and a row for each sum."""

    key: Numbers
    build: Numbers
    sums: Floats

    @classmethod
    def of(cls, key: Numbers, build: Numbers, ordered: Sequence[Build], sums: dict[str, Any]) -> "_Units":
        """Add up rows by key and build, in the order of their first run; those of no known build are left out."""
        known = np.flatnonzero(build >= 0)
        number = np.array([each.number for each in ordered], dtype=np.int64)[build[known]]
        groups = Groups.of(key[known], number)
        added = np.array([groups.sum(each[known].astype(float)) for each in sums.values()])
        return cls(groups.first(key[known]), groups.first(build[known]), added)

    def table(
        self,
        keys: pa.Table,
        changes: Changes,
        ordered: Sequence[Build],
        worse: Any,
        columns: dict[str, pa.Array],
    ) -> pa.Table:
        """Return the changes as rows: the keys, where each is, and these columns."""
        at, low, high = (
            [ordered[each] for each in self.build[rows]] for rows in (changes.at, changes.low, changes.high)
        )
        found = keys.take(self.key[changes.at])
        for name, values in {
            "build": pa.array([each.build for each in at], pa.string()),
            "build_number": pa.array([each.number for each in at], pa.int64()),
            "first_run_at": pa.array([each.first_run_at for each in at], pa.timestamp("us", "UTC")),
            "low_build": pa.array([each.build for each in low], pa.string()),
            "high_build": pa.array([each.build for each in high], pa.string()),
            "low_number": pa.array([each.number for each in low], pa.int64()),
            "high_number": pa.array([each.number for each in high], pa.int64()),
            "direction": pa.array(np.where(worse, "worse", "better").tolist(), pa.string()),
            **columns,
            "certainty": pa.array(changes.certainty),
        }.items():
            found = found.append_column(name, values)
        return found


def _of_rates(left: Floats, right: Floats, whole: Floats) -> Floats:
    """Return the evidence of a change of rates, from n and x."""
    return _likelihood(left) + _likelihood(right) - _likelihood(whole)


def _likelihood(side: Floats) -> Floats:
    n, x = side
    nothing = math.lgamma(_A) + math.lgamma(_B) - math.lgamma(_A + _B)
    return log_gamma(x + _A) + log_gamma(n - x + _B) - log_gamma(n + _A + _B) - nothing


def _of_ranks(left: Floats, right: Floats, whole: Floats) -> Floats:
    """Return the evidence of a change of durations, from n, u and squares (sums of u and of u²)."""

    def explained(side: Floats) -> Floats:
        found: Floats = side[1] * side[1] / (_K + side[0])
        return found

    n, squares = whole[0], whole[2]
    split = _V + (squares - explained(left) - explained(right)) / 2
    none = _V + (squares - explained(whole)) / 2
    means = 0.5 * np.log(_K * (_K + n) / ((_K + left[0]) * (_K + right[0])))
    found: Floats = means - (_V + n / 2) * np.log(split / none)
    return found
