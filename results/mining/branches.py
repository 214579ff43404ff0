"""The failures of a branch beside what its base has of the same tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from fencepost.results.mining.blame import BuildOfBase, Failure
from fencepost.results.mining.change_points import change_points
from fencepost.results.mining.driver_rows import frame_of
from fencepost.results.mining.flakiness import outcomes_by_day
from fencepost.results.mining.groups import sorted_rows
from fencepost.results.mining.identity import TARGET, TEST, build_of, builds_by_day, counted, failed, is_last_attempt

MOST: Final = 2_000
"""Tests that failed on a branch, of which the first by name are compared."""


class NoRuns(Exception):
    """No run is of a branch. The message says which, and what there is."""


@dataclass(frozen=True)
class Comparison:
    """The failures of the newest build of a branch beside its base; `build` is None if it is not known."""

    base: str
    head: str
    build: str | None
    head_runs: int
    base_runs: int
    failures: tuple[Failure, ...]


def compare(runs: DataFrame, base: str, head: str) -> Comparison:
    """Compare the newest build of a branch with all that there is of its base. Both are a branch, a build or a commit.

    Raise NoRuns if one of them has no run with a verdict on the target.
    """
    verdicts = counted(runs).where(failed().isNotNull()).withColumn("known_build", build_of(TARGET))
    on_head = verdicts.where(_is_of(head))
    build = on_head.agg(F.max_by("known_build", F.when(F.col("known_build").isNotNull(), F.col("started_at")))).first()
    newest = build[0] if build is not None else None
    if newest is not None:
        on_head = on_head.where(F.col("known_build") == newest)
    on_base = verdicts.where(_is_of(base) & ~_is_of(head))
    number_of = {}
    for name, rows in ((head, on_head), (base, on_base)):
        number_of[name] = rows.where(is_last_attempt()).count()
        if not number_of[name]:
            there = sorted(row[0] for row in runs.select("branch").distinct().limit(20).collect() if row[0])
            raise NoRuns(f"no run is of {name}; branches: {', '.join(there) or 'none is known'}")
    failures = _failures(_failed_on_head(on_head), on_base)
    return Comparison(base, head, newest, number_of[head], number_of[base], tuple(failures))


def _is_of(name: str) -> Column:
    is_of = (F.col(column) == name for column in ("branch", "known_build", "commit", "ci_commit"))
    whole = F.lit(False)
    for each in is_of:
        whole = whole | F.coalesce(each, F.lit(False))
    return whole


def _failed_on_head(rows: DataFrame) -> DataFrame:
    columns = ("started_at", "run_id", "folder", "plan_hash", "headline", "signature", "ci_url", "runner", "title")
    newest = F.struct(*columns)
    is_failed = failed() == 1
    return (
        rows.groupBy(*TEST)
        .agg(
            F.count("*").alias("attempts"),
            F.sum(failed()).alias("failed_attempts"),
            F.count(F.when(is_last_attempt(), 1)).alias("runs"),
            F.count(F.when(is_last_attempt() & is_failed, 1)).alias("failures"),
            F.max(F.when(is_failed, newest)).alias("failure"),
        )
        .where("failures > 0")
        .orderBy(*TEST)
        .limit(MOST)
    )


def _failures(on_head: DataFrame, on_base: DataFrame) -> list[Failure]:
    found = [row.asDict(recursive=True) for row in on_head.collect()]
    spark = on_head.sparkSession
    columns = dict.fromkeys((*TEST, "of_head"), pa.string())
    keys = [[*(row[name] for name in TEST), row["failure"]["signature"]] for row in found]
    same_tests = on_base.join(F.broadcast(frame_of(spark, columns, keys)), list(TEST))
    build = F.coalesce("known_build", "report", "run_id").alias("build")
    is_failed = failed() == 1
    by_build = same_tests.groupBy(*TEST, build).agg(
        F.count("*").alias("attempts"),
        F.sum(failed()).alias("failed"),
        F.count(F.when(is_last_attempt(), 1)).alias("runs"),
        F.count(F.when(is_last_attempt() & is_failed, 1)).alias("failures"),
        F.count(F.when(is_failed & (F.col("signature") == F.col("of_head")), 1)).alias("same"),
        F.max("started_at").alias("last_at"),
        F.max("known_build").alias("known_build"),
    )
    of_test = defaultdict(list)
    for row in by_build.orderBy("last_at").collect():
        of_test[tuple(row[name] for name in TEST)].append(row)
    worse = {}
    changes = change_points(outcomes_by_day(same_tests).toArrow(), builds_by_day(same_tests).toArrow(), TARGET)
    for row in sorted_rows(changes, ("first_run_at",)).to_pylist():
        if row["direction"] == "worse":
            worse[tuple(row[name] for name in TEST)] = row["build"]
    return [_failure(row, of_test[key], worse.get(key)) for row in found for key in [tuple(row[n] for n in TEST)]]


def _failure(of_head: dict[str, Any], builds: Sequence[Any], worse: str | None) -> Failure:
    first = next((row["known_build"] for row in builds if row["failed"]), None)
    return Failure(
        of_head,
        tuple(BuildOfBase(row["attempts"], row["failed"]) for row in builds),
        sum(row["runs"] for row in builds),
        sum(row["failures"] for row in builds),
        sum(row["same"] for row in builds),
        worse or first,
    )
