"""The activity of each day: verdicts, durations, and the time of the runs that did not pass."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.computed import computed
from fencepost.results.mining.identity import (
    HALTS,
    TARGET,
    TEST,
    build_of,
    counted,
    is_last_attempt,
    is_retried_pass,
)

COUNTS = ("pass", "violation", *HALTS, "retried", "attempts", "seconds", "lost_s", "timed", "timed_s")
"""The sums of a day.

- pass, violation, infrastructure, inconclusive: numbers of runs. retried: passes after attempts that failed.
- attempts: all executions. seconds: their durations. lost_s: those of the attempts that did not pass.
- timed, timed_s: passes with a known duration, and the sum of these.
"""


def days(runs: DataFrame) -> DataFrame:
    """Return the sums of each day on each target, the newest day first.

    Columns: target, date, builds (known ones that ran on it), unknown (attempts of unknown builds), and COUNTS.
    """
    on_builds = counted(runs).groupBy("target", "date", build_of(TARGET).alias("build")).agg(*_sums())
    unknown = F.when(F.col("build").isNull(), F.col("attempts")).otherwise(0)
    return (
        on_builds.groupBy("target", "date")
        .agg(
            F.count("build").alias("builds"),
            F.sum(unknown).alias("unknown"),
            *(F.sum(name).alias(name) for name in COUNTS),
        )
        .orderBy(F.desc("date"), "target")
    )


def basis(runs: DataFrame) -> DataFrame:
    """Return what each target has: target, builds (known ones)."""
    known = counted(runs).select("target", build_of(TARGET).alias("build")).where("build is not null").distinct()
    return known.groupBy("target").agg(F.count("*").alias("builds"))


def verdicts_by_day(runs: DataFrame, most: int) -> DataFrame:
    """Return the verdicts of each test on its newest days, at most `most` of each test.

    Columns beside test, target, backend: date, COUNTS, and median_s (of the durations of passes).
    """
    by_day = counted(runs).groupBy(*TEST, "date").agg(*_sums(), median_of_passes())
    place = F.row_number().over(Window.partitionBy(*TEST).orderBy(F.desc("date")))
    return by_day.withColumn("place", place).where(F.col("place") <= most).drop("place")


def newest_failures(runs: DataFrame, most: int) -> DataFrame:
    """Return the newest violation of each test on each build, and on each day for those of unknown builds.

    At most `most` of each test, the newest first. Columns: those of `per_test.newest_runs`.
    """
    failures = counted(runs).where("verdict = 'violation'").withColumn("build", build_of(TARGET))
    of_test = Window.partitionBy(*TEST)
    newest = Window.partitionBy(*TEST, F.coalesce("build", F.col("date").cast("string")))
    order = (F.desc("started_at"), F.col("run_id"))
    # Places first, by narrow rows: only those of few runs are joined with the texts of the runs.
    first = failures.select(*TEST, "run_id", "started_at", "build", "date")
    first = first.withColumn("number", F.row_number().over(newest.orderBy(*order))).where("number = 1")
    first = first.withColumn("place", F.row_number().over(of_test.orderBy(*order))).where(F.col("place") <= most)
    chosen = F.broadcast(computed(first.select("run_id")))
    return failures.join(chosen, "run_id", "left_semi").select(
        *TEST,
        *("run_id", "started_at", "verdict", "build", "release", "duration_s", "headline"),
        *("folder", "plan_hash", "seed", "ci_url", "left_out", "attempt", "attempts"),
    )


def median_of_passes() -> Column:
    timed = (F.col("verdict") == "pass") & F.col("duration_unknown").isNull()
    return F.percentile_approx(F.when(timed, F.col("duration_s")), 0.5).alias("median_s")


def _sums() -> list[Column]:
    is_red = F.col("verdict") != "pass"
    is_timed = ~is_red & F.col("duration_unknown").isNull()
    zero = F.lit(0.0)
    return [
        *(
            F.count(F.when(is_last_attempt() & (F.col("verdict") == name), 1)).alias(name)
            for name in ("pass", "violation", *HALTS)
        ),
        F.count(F.when(is_retried_pass(), 1)).alias("retried"),
        F.count("*").alias("attempts"),
        F.coalesce(F.sum("duration_s"), zero).alias("seconds"),
        F.coalesce(F.sum(F.when(is_red, F.col("duration_s"))), zero).alias("lost_s"),
        F.count(F.when(is_timed, 1)).alias("timed"),
        F.coalesce(F.sum(F.when(is_timed, F.col("duration_s"))), zero).alias("timed_s"),
    ]
