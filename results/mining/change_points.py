"""Since which build a test fails more often or less, or takes longer."""

import math
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from fencepost.results.mining.formulas import log_gamma_of_count
from fencepost.results.mining.identity import HARNESS, TEST, build_of, of_counted, ordered_builds
from fencepost.results.mining.segments import PLACE, Gain, segmented

PRIOR_OF_CHANGE = 1 / 5
"""The prior odds that a history of verdicts has a change (decision 0056)."""
PRIOR_OF_SLOW_DOWN = 3 / 100
"""The prior odds that a series of timings has one: a test has several series."""
_A = _B = 0.1
"""The beta prior of a rate: most tests nearly always pass, or nearly always fail."""
_K = 1.0
"""The prior of a mean of ranks has the weight of so many timings."""
_V = 0.5
"""The prior of the variance of ranks has the weight of 2 V timings of variance 1."""


def change_points(tests: DataFrame, builds: DataFrame, sort: str, *, prior: float = PRIOR_OF_CHANGE) -> DataFrame:
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
    on_builds = (
        tests.where("n > 0")
        .select(*TEST, F.col("commit" if sort == HARNESS else "build").alias(_BUILD), "n", "x")
        # The runs of a test are split next, so they are brought together before they are added up, not after.
        .repartition(*TEST)
        .groupBy(*TEST, _BUILD)
        .agg(F.sum("n").alias("n"), F.sum("x").alias("x"))
    )
    found = segmented(_numbered(on_builds, builds, sort), TEST, ("n", "x"), _of_rates(), prior, _both)
    before, after = (F.col(f"{side}.x") / F.col(f"{side}.n") for side in ("before", "after"))
    return found.select(
        *TEST,
        *PLACE,
        F.when(after > before, "worse").otherwise("better").alias("direction"),
        before.alias("rate_before"),
        after.alias("rate_after"),
        F.col("before.n").alias("runs_before"),
        F.col("after.n").alias("runs_after"),
        "certainty",
    )


def slow_downs(
    timings: DataFrame, runs: DataFrame, builds: DataFrame, sort: str, *, timing: Sequence[str] = ("timing",)
) -> DataFrame:
    """Return the builds at which a timing of a test became slower or faster.

    `timings` has the columns of runs that the store repeats in it, `seconds`, and those named in `timing`, which
    distinguish one timing from another. Columns beside them: as `change_points` has, with seconds_before and
    seconds_after (geometric means) in place of rates, and times_before and times_after in place of runs.

    Timings are compared by their ranks r among the n of their series, as u = (r / (n + 1) - 1/2) sqrt(12): one outlier
    is one high rank, and no distribution of durations is assumed. The means of u in both parts of a segment are then
    compared under a normal model with one variance, which has conjugate priors: with R the residual sum of squares
    about the means, and k = K / (K + timings) for each part, the log odds are
    1/2 ln(k(left) k(right) / k(all)) - (V + n/2) ln((V + R(split) / 2) / (V + R(all) / 2)) + ln(prior / places).
    Sources: W. J. Conover and R. L. Iman, Rank transformations as a bridge between parametric and nonparametric
    statistics, 1981; K. P. Murphy, Conjugate Bayesian analysis of the Gaussian distribution, 2007.
    """
    keys = (*TEST, *timing)
    timed = of_counted(timings.where("seconds > 0 and verdict = 'pass'"), runs)
    if sort == HARNESS:
        timed = timed.join(runs.select("run_id", "commit"), "run_id")
    timed = timed.select(*keys, _hash_of_build(sort), "seconds")
    series = Window.partitionBy(*keys)
    upwards = series.orderBy("seconds")
    # Equal timings have the mean of their ranks: `count` has all of them, `rank` the first one.
    rank = (F.rank().over(upwards) + F.count("*").over(upwards)) / 2
    score = (rank / (F.count("*").over(series) + 1) - 0.5) * math.sqrt(12)
    on_builds = (
        timed.withColumn("u", score)
        .groupBy(*keys, _BUILD)
        .agg(
            F.count("*").alias("n"),
            F.sum("u").alias("u"),
            F.sum(F.col("u") * F.col("u")).alias("squares"),
            F.sum(F.log("seconds")).alias("logs"),
        )
    )
    found = segmented(_numbered(on_builds, builds, sort), keys, ("n", "logs"), _of_ranks(), PRIOR_OF_SLOW_DOWN)
    before, after = (F.exp(F.col(f"{side}.logs") / F.col(f"{side}.n")) for side in ("before", "after"))
    return found.select(
        *keys,
        *PLACE,
        F.when(after > before, "worse").otherwise("better").alias("direction"),
        before.alias("seconds_before"),
        after.alias("seconds_after"),
        F.col("before.n").alias("times_before"),
        F.col("after.n").alias("times_after"),
        "certainty",
    )


_BUILD = "build_hash"


def _hash_of_build(sort: str) -> Column:
    """Return a hash of the build, of 64 bits: all rows are brought together, and those with numbers are smaller."""
    return F.xxhash64(build_of(sort)).alias(_BUILD)


def _numbered(on_builds: DataFrame, builds: DataFrame, sort: str) -> DataFrame:
    """Replace the hash of each build by build, build_number and first_run_at; leave out builds that are not known."""
    order = ordered_builds(builds, sort).select("target", "build", "build_number", "first_run_at")
    order = order.withColumn(_BUILD, F.xxhash64("build"))
    return on_builds.join(F.broadcast(order), ["target", _BUILD]).drop(_BUILD)


def _of_rates() -> Gain:
    """Return the evidence of a change of rates, from n and x of each build."""
    others = {f"{side}_other": F.col(f"{side}_n") - F.col(f"{side}_x") for side in _SIDES}
    gain = _likelihood("left") + _likelihood("right") - _likelihood("all")

    def add(rows: DataFrame, whole: WindowSpec) -> DataFrame:
        sides = _with_sides(rows, whole, ("n", "x"))
        return sides.withColumns(others).select(*rows.columns, gain.alias("gain"))

    return add


def _both(history: WindowSpec) -> Column:
    """Return whether a history has runs with the verdict and runs without it.

    One in which all runs are alike has no change: two rates never make it more likely than one.
    """
    n, x = (F.sum(name).over(history) for name in ("n", "x"))
    return (x > 0) & (x < n)


def _likelihood(side: str) -> Column:
    """Return l(x, n) of one side, from its columns x, other (n - x) and n."""
    nothing = math.lgamma(_A) + math.lgamma(_B) - math.lgamma(_A + _B)
    shifts = {"x": _A, "other": _B, "n": _A + _B}
    x, other, n = (log_gamma_of_count(F.col(f"{side}_{name}"), shift) for name, shift in shifts.items())
    return x + other - n - nothing


def _of_ranks() -> Gain:
    """Return the evidence of a change of durations, from n, u and squares (sums of u and of u²) of each build."""
    weights = {f"{side}_k": _K + F.col(f"{side}_n") for side in _SIDES}
    explained = {side: F.col(f"{side}_u") * F.col(f"{side}_u") / F.col(f"{side}_k") for side in _SIDES}
    squares = F.col("all_squares")
    split, none = (
        _V + rest / 2 for rest in (squares - explained["left"] - explained["right"], squares - explained["all"])
    )
    means = 0.5 * F.log(_K * F.col("all_k") / (F.col("left_k") * F.col("right_k")))
    gain = means - (_V + F.col("all_n") / 2) * F.log(split / none)

    def add(rows: DataFrame, whole: WindowSpec) -> DataFrame:
        sides = _with_sides(rows, whole, ("n", "u", "squares"))
        return sides.withColumns(weights).select(*rows.columns, gain.alias("gain"))

    return add


_SIDES = ("left", "right", "all")


def _with_sides(rows: DataFrame, whole: WindowSpec, names: Sequence[str]) -> DataFrame:
    """Add the sums of columns over the builds before each one, over it and the later ones, and over all of a window."""
    earlier = whole.orderBy("build_number").rowsBetween(Window.unboundedPreceding, -1)
    sums = {f"left_{name}": F.sum(name).over(earlier) for name in names}
    rows = rows.withColumns(sums | {f"all_{name}": F.sum(name).over(whole) for name in names})
    return rows.withColumns({f"right_{name}": F.col(f"all_{name}") - F.col(f"left_{name}") for name in names})
