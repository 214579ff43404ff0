"""Split histories over builds into segments: each at its most probable change, and its parts again."""

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

TAIL = 0.005
"""The probability left out on each side of the interval: together it has 99 %."""
LEVELS = 4
"""How often segments are split again: a test has at most 2^4 - 1 changes, more than a window of some months needs."""
Gain = Callable[[DataFrame, WindowSpec], DataFrame]
"""Adds the column gain: the log likelihood of a change at each build of a window, less that of none.

It is null for the first build of a window.
"""

PLACE = (
    "build",
    "build_number",
    "first_run_at",
    *(f"{end}_{what}" for end in ("low", "high") for what in ("build", "number")),
)
"""The columns that say where a change is: its build, and the ends of the interval."""


def segmented(
    units: DataFrame,
    keys: Sequence[str],
    sums: Sequence[str],
    gain: Gain,
    prior: float,
    may_change: Callable[[WindowSpec], Column] = lambda _: F.lit(True),
) -> DataFrame:
    """Return the change points of `units`: rows of keys, build, build_number, first_run_at, and columns to add up.

    `prior` has the odds that a history has a change. All its builds after the first one share them equally: a long
    history would else have more false changes than a short one. A segment is split at the build where gain +
    ln(prior / (builds - 1)) is greatest, if that is above 0.

    `may_change` says of a whole history whether it can have a change at all: what cannot is left out at once.

    The result has keys, the columns of `PLACE`, certainty, and `before` and `after` with the sums of both segments.
    """

    def odds(rows: DataFrame, whole: WindowSpec) -> DataFrame:
        return gain(rows, whole).withColumn("gain", F.col("gain") + F.log(prior / F.col("places")))

    # The first window brings all rows of a key to one executor, unless they are there; no later one moves them.
    history = Window.partitionBy(*keys)
    rows = units.withColumns(
        {
            "segment": F.lit(1),
            # A history of one build has no place for a change, and no gain.
            "places": F.greatest(F.count("*").over(history) - 1, F.lit(1)),
            "may_change": may_change(history),
        }
    )
    rows = rows.where("may_change").drop("may_change")
    # A history that is not split as a whole has no change; most have none.
    rows = _split(rows, keys, odds).where("splits").drop("splits")
    for _ in range(LEVELS - 1):
        rows = _split(rows, keys, odds).drop("splits")
    order = Window.partitionBy(*keys).orderBy("build_number")
    rows = rows.withColumn("point", F.coalesce(F.col("segment") != F.lag("segment").over(order), F.lit(False)))
    rows = rows.withColumn("part", F.sum(F.col("point").cast("int")).over(order))
    return _placed(rows, keys, sums, odds)


def _split(rows: DataFrame, keys: Sequence[str], gain: Gain) -> DataFrame:
    """Split each segment at its most probable change, if there is one: the parts of segment s are 2 s and 2 s + 1.

    The column `splits` says whether there is one.
    """
    whole = Window.partitionBy(*keys, "segment")
    best = F.max(F.struct("gain", -F.col("build_number"))).over(whole)
    gained = gain(rows, whole).withColumn("best", best)
    splits = F.coalesce(F.col("best.gain") > 0, F.lit(False))
    later = splits & (F.col("build_number") >= -F.col("best.col2"))
    changed = gained.withColumns({"segment": 2 * F.col("segment") + later.cast("int"), "splits": splits})
    return changed.select(*rows.columns, "splits")


def _placed(rows: DataFrame, keys: Sequence[str], sums: Sequence[str], gain: Gain) -> DataFrame:
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
    rows = gain(rows, whole).withColumn("best", F.max("gain").over(whole)).where("best > 0")
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
