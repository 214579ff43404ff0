"""Since which build a test fails more often or less, or takes longer."""

import math
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from fencepost.results.mining.formulas import log_gamma
from fencepost.results.mining.identity import TEST, build_of, builds, counted

PRIOR_OF_CHANGE = 1e-3
"""The prior probability of a change: a split must be more than 1,000 times as likely as none (decision 0056)."""
TAIL = 0.005
"""The probability left out on each side of the interval: together it has 99 %."""
LEVELS = 4
"""How often segments are split again: a test has at most 2^4 - 1 changes, more than a window of some months needs."""
_A = _B = 0.5
"""Jeffreys' prior of a rate."""


def change_points(
    runs: DataFrame, sort: str, *, verdict: str = "violation", prior: float = PRIOR_OF_CHANGE
) -> DataFrame:
    """Return the builds of one sort (`identity.TARGET`, `HARNESS`) at which the rate of a verdict changed.

    Columns beside test, target, backend: build (the probable first one with the new rate), build_number,
    first_run_at, low_build and high_build (the interval that has it with 99 %), low_number and high_number,
    direction (`worse`, `better`), rate_before, rate_after, runs_before, runs_after (of the segments beside it) and
    certainty (log of the odds of change against none).

    A violation is counted among passes and violations, the other verdicts among all runs. Builds are in the order of
    their first run. With l(x, n) = ln B(x+a, n-x+b) - ln B(a, b), a segment is split where
    l(left) + l(right) - l(all) + ln(prior) is greatest and above 0, and so are its parts.
    Source: change point analysis of Chromium's LUCI (a binomial model with a beta prior).
    """
    of = F.when(F.col("verdict") == verdict, 1)
    among = F.col("verdict").isin("pass", "violation") if verdict == "violation" else F.lit(True)
    on_builds = (
        counted(runs)
        .where(among)
        .groupBy(*TEST, build_of(sort).alias("build"))
        .agg(F.count("*").alias("n"), F.count(of).alias("x"))
    )
    found = _segmented(_numbered(on_builds, runs, sort), TEST, ("n", "x"), prior)
    before, after = (F.col(f"{side}.x") / F.col(f"{side}.n") for side in ("before", "after"))
    return found.select(
        *TEST,
        *_PLACE,
        F.when(after > before, "worse").otherwise("better").alias("direction"),
        before.alias("rate_before"),
        after.alias("rate_after"),
        F.col("before.n").alias("runs_before"),
        F.col("after.n").alias("runs_after"),
        "certainty",
    )


def slow_downs(timings: DataFrame, runs: DataFrame, sort: str, *, timing: Sequence[str] = ("timing",)) -> DataFrame:
    """Return the builds at which a timing of a test became slower or faster.

    `timings` has the columns of runs that the store repeats in it, `seconds`, and those named in `timing`, which
    distinguish one timing from another. Columns beside them: as `change_points` has, with seconds_before and
    seconds_after (geometric means) in place of rates, and times_before and times_after in place of runs.

    A timing of a build is slow if it is above the median over all builds. The share of slow ones is then a rate as in
    `change_points`: outliers count as one slow timing, and no distribution is assumed.
    """
    keys = (*TEST, *timing)
    commit = counted(runs).select("run_id", *({"commit", "target_commit"} - set(timings.columns)))
    timed = timings.where("seconds > 0 and verdict = 'pass'").join(commit, "run_id")
    timed = timed.select(*keys, build_of(sort).alias("build"), "seconds")
    medians = timed.groupBy(*keys).agg(F.percentile_approx("seconds", 0.5, 1000).alias("median"))
    on_builds = (
        timed.join(medians, list(keys))
        .groupBy(*keys, "build")
        .agg(
            F.count("*").alias("n"),
            F.count(F.when(F.col("seconds") > F.col("median"), 1)).alias("x"),
            F.sum(F.log("seconds")).alias("logs"),
        )
    )
    found = _segmented(_numbered(on_builds, runs, sort), keys, ("n", "x", "logs"), PRIOR_OF_CHANGE)
    before, after = (F.exp(F.col(f"{side}.logs") / F.col(f"{side}.n")) for side in ("before", "after"))
    return found.select(
        *keys,
        *_PLACE,
        F.when(after > before, "worse").otherwise("better").alias("direction"),
        before.alias("seconds_before"),
        after.alias("seconds_after"),
        F.col("before.n").alias("times_before"),
        F.col("after.n").alias("times_after"),
        "certainty",
    )


_PLACE = (
    "build",
    "build_number",
    "first_run_at",
    *(f"{end}_{what}" for end in ("low", "high") for what in ("build", "number")),
)


def _numbered(on_builds: DataFrame, runs: DataFrame, sort: str) -> DataFrame:
    order = builds(runs, sort).select("target", "build", "build_number", "first_run_at")
    return on_builds.join(F.broadcast(order), ["target", "build"])


def _segmented(units: DataFrame, keys: Sequence[str], sums: Sequence[str], prior: float) -> DataFrame:
    """Return the change points of `units`: rows of keys, build, build_number, n, x, and further columns to add up.

    The result has keys, the columns of `_PLACE`, certainty, and `before` and `after` with the sums of both segments.
    """
    # From here on all rows of a key are on one executor, and no window moves them.
    rows = units.repartition(*keys).withColumn("segment", F.lit(1))
    for _ in range(LEVELS):
        rows = _split(rows, keys, prior)
    order = Window.partitionBy(*keys).orderBy("build_number")
    rows = rows.withColumn("point", F.coalesce(F.col("segment") != F.lag("segment").over(order), F.lit(False)))
    rows = rows.withColumn("part", F.sum(F.col("point").cast("int")).over(order))
    return _placed(rows, keys, sums, prior)


def _split(rows: DataFrame, keys: Sequence[str], prior: float) -> DataFrame:
    """Split each segment at its most probable change, if there is one: the parts of segment s are 2 s and 2 s + 1."""
    whole = Window.partitionBy(*keys, "segment")
    best = F.max(F.struct("gain", -F.col("build_number"))).over(whole)
    gained = _with_gain(rows, whole, prior).withColumn("best", best)
    later = (F.col("best.gain") > 0) & (F.col("build_number") >= -F.col("best.col2"))
    return gained.withColumn("segment", 2 * F.col("segment") + F.coalesce(later, F.lit(False)).cast("int")).select(
        *rows.columns
    )


def _placed(rows: DataFrame, keys: Sequence[str], sums: Sequence[str], prior: float) -> DataFrame:
    """Return the change points with their intervals, each from the two parts beside it.

    A change that another one has made improbable is left out.
    """
    parts = Window.partitionBy(*keys, "part")
    last = F.max("part").over(Window.partitionBy(*keys))
    rows = rows.withColumns({"sums": F.struct(*(F.sum(name).over(parts).alias(name) for name in sums)), "last": last})
    # Each part lies after one change and before another.
    change = F.filter(F.array(F.col("part"), F.col("part") + 1), lambda each: (each >= 1) & (each <= F.col("last")))
    rows = rows.withColumn("change", F.explode(change))
    whole = Window.partitionBy(*keys, "change")
    order = whole.orderBy("build_number")
    rows = _with_gain(rows, whole, prior).withColumn("best", F.max("gain").over(whole)).where("best > 0")
    rows = rows.withColumn("weight", F.coalesce(F.exp(F.col("gain") - F.col("best")), F.lit(0.0)))
    share = F.sum("weight").over(order) / F.sum("weight").over(whole)
    left = F.col("part") < F.col("change")
    return (
        rows.withColumn("share", share)
        .groupBy(*keys, "change")
        .agg(
            F.max("best").alias("certainty"),
            F.max_by(F.struct("build", "build_number", "first_run_at"), F.struct("gain", -F.col("build_number"))).alias(
                "at"
            ),
            F.min(F.when(F.col("share") >= TAIL, F.struct("build_number", "build"))).alias("low"),
            F.min(F.when(F.col("share") >= 1 - TAIL, F.struct("build_number", "build"))).alias("high"),
            F.first(F.when(left, F.col("sums")), ignorenulls=True).alias("before"),
            F.first(F.when(~left, F.col("sums")), ignorenulls=True).alias("after"),
        )
        .select(
            *keys,
            "at.*",
            *(F.col(f"{end}.build").alias(f"{end}_build") for end in ("low", "high")),
            *(F.col(f"{end}.build_number").alias(f"{end}_number") for end in ("low", "high")),
            "certainty",
            "before",
            "after",
        )
    )


def _with_gain(rows: DataFrame, whole: WindowSpec, prior: float) -> DataFrame:
    """Add the column gain: the log odds of a change at a build against none; null for the first build."""
    earlier = whole.orderBy("build_number").rowsBetween(Window.unboundedPreceding, -1)
    columns = rows.columns
    sides = {f"left_{name}": F.sum(name).over(earlier) for name in ("n", "x")}
    rows = rows.withColumns(sides | {f"all_{name}": F.sum(name).over(whole) for name in ("n", "x")})
    # Each argument is a column before it is used: the formula uses it many times.
    arguments: dict[str, Column] = {}
    for side in ("left", "right", "all"):
        n, x = (
            F.col(f"all_{name}") - F.col(f"left_{name}") if side == "right" else F.col(f"{side}_{name}")
            for name in ("n", "x")
        )
        arguments |= {f"{side}_a": x + _A, f"{side}_b": n - x + _B, f"{side}_c": n + (_A + _B)}
    gain = _likelihood("left") + _likelihood("right") - _likelihood("all") + math.log(prior)
    return rows.withColumns(arguments).select(*columns, gain.alias("gain"))


def _likelihood(side: str) -> Column:
    """Return l(x, n) of one side, from its columns a = x + prior, b = n - x + prior, c = a + b."""
    nothing = 2 * math.lgamma(_A) - math.lgamma(_A + _B)
    return reduce(
        lambda sum_, each: sum_ + each,
        (
            log_gamma(F.col(f"{side}_a")),
            log_gamma(F.col(f"{side}_b")),
            -log_gamma(F.col(f"{side}_c")),
            F.lit(-nothing),
        ),
    )
