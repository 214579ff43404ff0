"""The activity of each day: verdicts, durations, and the time of the runs that did not pass."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

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
    sum_of_seconds,
)

COUNTS: Final = ("pass", "violation", *HALTS, "retried", "attempts", "seconds", "lost_s", "timed", "timed_s")
"""The sums of a day.

- pass, violation, infrastructure, inconclusive: numbers of runs. retried: passes after attempts that failed.
- attempts: all executions. seconds: their durations. lost_s: those of the attempts that did not pass.
- timed, timed_s: passes with a known duration, and the sum of these.
"""


def sums_by_day(runs: DataFrame) -> DataFrame:
    """Return the sums of each build on each day, also of runs that scores do not count.

    Columns: date, target, build (null for unknown ones), left_out, COUNTS, violations (attempts), first_at, last_at.
    """
    return runs.groupBy("date", "target", build_of(TARGET).alias("build"), "left_out").agg(
        *_sums(),
        F.count(F.when(F.col("verdict") == "violation", 1)).alias("violations"),
        F.min("started_at").alias("first_at"),
        F.max("started_at").alias("last_at"),
    )


def days(sums: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the sums of each day on each target, the newest day first, of the rows of `sums_by_day`.

    Each has target, date, builds (known ones that ran on it), unknown (attempts of unknown builds), and COUNTS.
    """
    found: dict[tuple[Any, str], dict[str, Any]] = {}
    for row in _in_order(sums):
        place = row["date"], row["target"]
        day = found.setdefault(place, {"target": row["target"], "date": row["date"], "builds": 0, "unknown": 0})
        day["builds"] += row["build"] is not None
        day["unknown"] += row["attempts"] if row["build"] is None else 0
        for name in COUNTS:
            day[name] = day.get(name, 0) + row[name]
    return sorted(sorted(found.values(), key=lambda day: day["target"]), key=lambda day: day["date"], reverse=True)


def basis(sums: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what each target has: target, builds (known ones)."""
    known = defaultdict(set)
    for row in _in_order(sums):
        if row["build"] is not None:
            known[row["target"]].add(row["build"])
    return [{"target": target, "builds": len(builds)} for target, builds in known.items()]


def _in_order(sums: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of runs that scores count; in one order, on which the last digits of a sum depend."""
    counting = (row for row in sums if row["left_out"] is None)
    return sorted(counting, key=lambda row: (row["date"], row["target"], row["build"] or ""))


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
    duration = F.col("duration_s")
    return [
        *(
            F.count(F.when(is_last_attempt() & (F.col("verdict") == name), 1)).alias(name)
            for name in ("pass", "violation", *HALTS)
        ),
        F.count(F.when(is_retried_pass(), 1)).alias("retried"),
        F.count("*").alias("attempts"),
        sum_of_seconds(duration).alias("seconds"),
        sum_of_seconds(F.when(is_red, duration)).alias("lost_s"),
        F.count(F.when(is_timed, 1)).alias("timed"),
        sum_of_seconds(F.when(is_timed, duration)).alias("timed_s"),
    ]
