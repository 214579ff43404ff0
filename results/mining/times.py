"""Phases, reactions of the cluster and latencies, by build, with the runs that stand out."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.computed import computed
from fencepost.results.mining.identity import TARGET, TEST, build_of, of_counted

OUTLIERS = 5
"""The runs that stand out, named for each timing of a test at most."""
LEAST = 8
"""The timings from which one can stand out among them."""
_BUCKETS = 4
"""The buckets of a histogram for each doubling, as in the table `latencies`."""


_KEY = ("target", "backend", "build", "timing", "fault_kind")
_LATENCY = ("target", "backend", "build", "operation", "outcome", "during")


def times_by_day(timings: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the durations of each timing on each build and day, counted in four buckets for each doubling.

    Columns beside date, target, backend, build, timing, fault_kind: bucket (null for those without an end), operations,
    seconds (the longest), longest_run (null unless it is the longest of all buckets of its key).
    """
    key = ("date", *_KEY)
    rows = of_counted(timings.withColumn("build", build_of(TARGET)).select(*key, "run_id", "seconds"), runs)
    # Null, as `greatest` is not, for a timing without an end.
    measured = F.when(F.col("seconds").isNotNull(), F.greatest("seconds", F.lit(1e-6)))
    bucket = F.floor(_BUCKETS * F.log2(measured * 1e6)).cast("int")
    buckets = rows.groupBy(*key, bucket.alias("bucket")).agg(
        F.count("*").alias("operations"), F.max("seconds").alias("seconds")
    )
    buckets = computed(buckets)
    # Spark sorts all rows for an aggregate that holds text: so the longest is found first, and then its run.
    longest = buckets.groupBy(*key).agg(F.max("seconds").alias("seconds")).where("seconds is not null")
    places = longest.select(*(F.col(each).alias(f"of_{each}") for each in (*key, "seconds")))

    def same(frame: DataFrame, other: DataFrame) -> list[Column]:
        return [frame[each].eqNullSafe(other[f"of_{each}"]) for each in (*key, "seconds")]

    there = rows.join(F.broadcast(places), same(rows, places))
    found = F.broadcast(there.groupBy(*places.columns).agg(F.max("run_id").alias("longest_run")))
    return buckets.join(found, same(buckets, found), "left").drop(*places.columns)


def times(daily: DataFrame) -> DataFrame:
    """Return the durations of each timing by target, backend and build, from those of each day (`times_by_day`).

    Columns: target, backend, build, timing, fault_kind, times, unseen (those without an end), median_s, p95_s,
    longest_s, longest_run. Quantiles are within 19 % of their value.
    """
    ends = daily.groupBy(*_KEY).agg(
        F.coalesce(F.sum(F.when(F.col("bucket").isNull(), F.col("operations"))), F.lit(0)).alias("unseen"),
        F.max(F.when(F.col("longest_run").isNotNull(), F.struct("seconds", "longest_run"))).alias("longest"),
    )
    quantiles = _quantiles(daily.where("bucket is not null"), _KEY, {"median_s": 0.5, "p95_s": 0.95})
    same = [quantiles[each].eqNullSafe(ends[each]) for each in _KEY]
    return quantiles.join(ends, same).select(
        *(quantiles[each] for each in _KEY),
        F.col("operations").alias("times"),
        "unseen",
        "median_s",
        "p95_s",
        F.col("longest.seconds").alias("longest_s"),
        "longest.longest_run",
    )


def latencies_by_day(histograms: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the histograms of latencies on each day: date, the columns that `latencies` has, bucket, operations,
    seconds.
    """
    rows = of_counted(histograms.withColumn("build", build_of(TARGET)), runs)
    return rows.groupBy("date", *_LATENCY, "bucket").agg(
        F.sum("operations").alias("operations"), F.sum("seconds").alias("seconds")
    )


def latencies(daily: DataFrame) -> DataFrame:
    """Return the latencies of operations by target, backend and build, while faults are at work and otherwise.

    `daily` are those of each day, by `latencies_by_day`. Columns: target, backend, build, operation, outcome, during,
    operations, mean_s, p50_s, p99_s.
    """
    means = daily.groupBy(*_LATENCY).agg((F.sum("seconds") / F.sum("operations")).alias("mean_s"))
    quantiles = _quantiles(daily, _LATENCY, {"p50_s": 0.5, "p99_s": 0.99})
    same = [quantiles[each].eqNullSafe(means[each]) for each in _LATENCY]
    return quantiles.join(means, same).select(
        *(quantiles[each] for each in _LATENCY), "operations", "mean_s", "p50_s", "p99_s"
    )


def outliers(timings: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the timings that stand out among those of their test, at most five for each, the longest first.

    Columns beside test, target, backend: timing, fault_kind, run_id, seconds, usual_s (the median), times_usual.
    One stands out above Q3 + 3 (Q3 - Q1) of the logarithms, among 8 or more. Quartiles are values that occur.
    Source: J. Tukey, Exploratory data analysis, 1977 (far out values).
    """
    key = (*TEST, "timing", "fault_kind")
    rows = of_counted(timings.select(*key, "run_id", "seconds").where("seconds > 0"), runs)
    rows = rows.withColumn("fault_kind", F.coalesce("fault_kind", F.lit("")))
    # One sort serves for ranks, quartiles and the longest: other ways to quantiles sort as well, and have to be joined.
    whole = Window.partitionBy(*key)
    longest = Window.partitionBy(*key).orderBy(F.desc("seconds"), "run_id")
    rows = rows.withColumns({"place": F.row_number().over(longest), "times": F.count("*").over(whole)})
    quartiles = {
        name: F.max(F.when(F.col("place") == F.col("times") + 1 - F.ceil(share * F.col("times")), F.col("seconds")))
        for name, share in (("q1", 0.25), ("usual_s", 0.5), ("q3", 0.75))
    }
    rows = rows.withColumns({name: quartile.over(whole) for name, quartile in quartiles.items()})
    # The same without logarithms, which take longer than the rest of a row.
    spread = F.col("q3") / F.col("q1")
    far = rows.where((F.col("times") >= LEAST) & (F.col("seconds") > F.col("q3") * spread * spread * spread))
    return far.where(F.col("place") <= OUTLIERS).select(
        *key, "run_id", "seconds", "usual_s", (F.col("seconds") / F.col("usual_s")).alias("times_usual")
    )


def _quantiles(buckets: DataFrame, key: tuple[str, ...], shares: dict[str, float]) -> DataFrame:
    """Return the quantiles in seconds, each as the middle of its bucket (on the logarithmic scale)."""
    family = Window.partitionBy(*key)
    counts = buckets.groupBy(*key, "bucket").agg(F.sum("operations").alias("operations"))
    cumulated = counts.withColumns(
        {"up_to": F.sum("operations").over(family.orderBy("bucket")), "all": F.sum("operations").over(family)}
    )
    middle = F.pow(F.lit(2.0), (F.col("bucket") + 0.5) / _BUCKETS) / 1e6
    return cumulated.groupBy(*key).agg(
        F.max("all").alias("operations"),
        *(F.min(F.when(F.col("up_to") >= q * F.col("all"), middle)).alias(name) for name, q in shares.items()),
    )
