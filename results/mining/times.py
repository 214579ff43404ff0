"""Phases, reactions of the cluster and latencies, by build, with the runs that stand out."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from fencepost.results.mining.computed import computed
from fencepost.results.mining.groups import Floats, Groups, Numbers, floats, keyed, numbers, ranks, with_columns
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


def times(daily: pa.Table) -> pa.Table:
    """Return the durations of each timing by target, backend and build, from those of each day (`times_by_day`).

    Columns: target, backend, build, timing, fault_kind, times, unseen (those without an end), median_s, p95_s,
    longest_s, longest_run. Quantiles are within 19 % of their value.
    """
    key, keys = keyed(daily, _KEY)
    operations = numbers(daily, "operations")
    has_end = pc.is_valid(daily["bucket"]).to_numpy()
    seconds = np.where(pc.is_valid(daily["longest_run"]).to_numpy(), floats(daily, "seconds"), -np.inf)
    longest = Groups.sorted_by(1, key, seconds, ranks(daily["longest_run"])[0]).last(np.arange(len(key)))
    seen, quantiles = _quantiles(key, numbers(daily, "bucket"), np.where(has_end, operations, 0), (0.5, 0.95))
    columns = {
        "times": seen,
        "unseen": np.bincount(key, np.where(has_end, 0, operations), keys.num_rows).astype(np.int64),
        **dict(zip(("median_s", "p95_s"), quantiles, strict=True)),
        "longest_s": daily["seconds"].take(longest),
        "longest_run": daily["longest_run"].take(longest),
    }
    return with_columns(keys, columns).filter(pa.array(seen > 0))


def latencies_by_day(histograms: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the histograms of latencies on each day: date, the columns that `latencies` has, bucket, operations,
    seconds.
    """
    rows = of_counted(histograms.withColumn("build", build_of(TARGET)), runs)
    return rows.groupBy("date", *_LATENCY, "bucket").agg(
        F.sum("operations").alias("operations"), F.sum("seconds").alias("seconds")
    )


def latencies(daily: pa.Table) -> pa.Table:
    """Return the latencies of operations by target, backend and build, while faults are at work and otherwise.

    `daily` are those of each day, by `latencies_by_day`. Columns: target, backend, build, operation, outcome, during,
    operations, mean_s, p50_s, p99_s.
    """
    key, keys = keyed(daily, _LATENCY)
    operations, quantiles = _quantiles(key, numbers(daily, "bucket"), numbers(daily, "operations"), (0.5, 0.99))
    in_order = Groups.of(key, numbers(daily, "date"), numbers(daily, "bucket"))
    seconds = np.bincount(in_order.first(key), in_order.sum(floats(daily, "seconds")), keys.num_rows)
    columns = {"operations": operations, "mean_s": seconds / operations}
    return with_columns(keys, columns | dict(zip(("p50_s", "p99_s"), quantiles, strict=True)))


DURATION: Final = (*TEST, "timing", "fault_kind", "verdict", "run_id", "seconds", "build", "release")
"""The columns of the table `timings` that `durations` takes."""


def durations(timings: pa.Table, left_out: pa.Array) -> pa.Table:
    """Return the timings above 0 s of runs that scores count, with `build` as `identity.build_of`.

    `timings` has the columns DURATION, `left_out` the ids of runs that do not count.
    """
    is_left_out = pc.is_in(timings["run_id"], left_out)
    rows = timings.filter(pc.and_(pc.greater(timings["seconds"], 0), pc.invert(is_left_out)))
    build = pc.coalesce(*(rows[name].cast(pa.string()) for name in ("build", "release")))
    return rows.drop_columns(["release"]).set_column(rows.schema.get_field_index("build"), "build", build)


def outliers(timings: pa.Table) -> pa.Table:
    """Return the timings that stand out among those of their test, at most five for each, the longest first.

    `timings` are those of `durations`. Columns beside test, target, backend: timing, fault_kind (empty without one),
    run_id, seconds, usual_s (the median), times_usual. One stands out above Q3 + 3 (Q3 - Q1) of the logarithms, among 8
    or more. Quartiles are values that occur.
    Source: J. Tukey, Exploratory data analysis, 1977 (far out values).
    """
    key, keys = keyed(timings, (*TEST, "timing", "fault_kind"))
    seconds = timings["seconds"].to_numpy()
    series = Groups.sorted_by(1, key, seconds)
    times = series.sizes

    def quartile(share: float) -> Floats:
        found: Floats = seconds[series.order[series.start + np.ceil(share * times).astype(np.int64) - 1]]
        return found

    usual, q3 = quartile(0.5), quartile(0.75)
    bound = np.where(times >= LEAST, q3 * (q3 / quartile(0.25)) ** 3, np.inf)
    far = np.flatnonzero(seconds > bound[key])
    found = keys.take(key[far])
    found = found.set_column(4, "fault_kind", pc.fill_null(found["fault_kind"].cast(pa.string()), ""))
    found = found.append_column("run_id", timings["run_id"].cast(pa.string()).take(far))
    found = found.append_column("seconds", pa.array(seconds[far]))
    found = found.append_column("usual_s", pa.array(usual[key[far]]))
    found = found.append_column("times_usual", pa.array(seconds[far] / usual[key[far]]))
    of, _ = keyed(found, (*TEST, "timing", "fault_kind"))
    longest = Groups.sorted_by(1, of, -seconds[far], ranks(found["run_id"])[0])
    return found.take(longest.order[longest.places < OUTLIERS])


def _quantiles(
    key: Numbers, bucket: Numbers, operations: Numbers, shares: Sequence[float]
) -> tuple[Numbers, list[Floats]]:
    """Return the operations of each key, and its quantiles in seconds, as the middle of a bucket (logarithmically)."""
    buckets = Groups.of(key, bucket)
    number, of, up_to = buckets.sum(operations), buckets.first(key), np.cumsum(buckets.sum(operations))
    keys = Groups.of(of)
    every = keys.sum(number)
    before = up_to[keys.start] - number[keys.start]
    middle = 2.0 ** ((buckets.first(bucket) + 0.5) / _BUCKETS) / 1e6
    # Whole numbers of operations, so the least number is that from which a share is reached.
    at = (np.searchsorted(up_to, before + np.maximum(np.ceil(share * every), 1)) for share in shares)
    return every, [middle[np.minimum(each, len(middle) - 1)] if len(middle) else middle for each in at]
