"""The activity of each day: verdicts, durations, and the time of the runs that did not pass."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from fencepost.results.mining.groups import Groups, ranks, with_columns
from fencepost.results.mining.identity import (
    HALTS,
    TARGET,
    build_of,
    is_last_attempt,
    is_retried_pass,
    sum_of_seconds,
)
from fencepost.results.mining.per_test import Runs, shown

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


def verdicts_by_day(runs: Runs, most: int) -> pa.Table:
    """Return the verdicts of each test on its newest days, at most `most` of each test.

    Columns beside test, target, backend: date, those of `Runs.counts`, and median_s (of the durations of passes).
    """
    runs = runs.counted
    groups = Groups.of(runs.test, runs.date)
    test, day = groups.first(runs.test), groups.first(runs.date)
    columns = {
        "date": runs.rows["date"].take(groups.first(np.arange(len(runs.date)))),
        **runs.counts(groups),
        "median_s": runs.medians(runs.test, runs.date),
    }
    newest = Groups.sorted_by(1, test, -day)
    return with_columns(runs.keys.take(test), columns).take(newest.order[newest.places < most])


def newest_failures(runs: Runs, most: int) -> pa.Table:
    """Return the newest violation of each test on each build, and on each day for those of unknown builds.

    At most `most` of each test, the newest first. Columns: those of `per_test.newest_runs`.
    """
    runs = runs.counted
    runs = runs.of(pa.array(runs.verdicts["violation"]))
    build = ranks(runs.rows["known_build"])[0]
    day = np.where(build < 0, runs.date, 0)
    of_place = Groups.sorted_by(3, runs.test, build, day, -runs.started, runs.run).first(np.arange(len(build)))
    of_test = Groups.sorted_by(1, runs.test[of_place], -runs.started[of_place], runs.run[of_place])
    return shown(runs, of_place[of_test.order[of_test.places < most]])


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
