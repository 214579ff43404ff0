"""The facts about each test beside its scores: its last week, its builds, its newest runs, its failures, its times."""

from datetime import UTC, date, datetime, timedelta
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.identity import (
    HALTS,
    TARGET,
    TEST,
    build_of,
    counted,
    failed,
    is_last_attempt,
    is_retried_pass,
    of_counted,
    sum_of_seconds,
)

WEEK: Final = timedelta(days=7)
ATTENTION_S: Final = 600
"""Seconds of a person that a red run is taken to cost, beside its own duration."""


def red() -> Column:
    """Return whether a run did not pass, for whatever reason."""
    return F.col("verdict") != "pass"


def first_day(now: datetime) -> date:
    """Return the first of the last seven days (UTC), of which that of `now` is the last."""
    return now.astimezone(UTC).date() - WEEK + timedelta(days=1)


def in_week(now: datetime) -> Column:
    return F.col("date").between(F.lit(first_day(now)), F.lit(now.astimezone(UTC).date()))


def _cost() -> Column:
    """Return the seconds that an execution cost: if it did not pass, its duration and the attention for a red run."""
    attention = F.when(is_last_attempt(), ATTENTION_S).otherwise(0)
    return F.when(red(), F.coalesce("duration_s", F.lit(0.0)) + attention)


def costs_by_day(runs: DataFrame) -> DataFrame:
    """Return what each test cost on each day: date, test, target, backend, is_counted, cost_s.

    Tests of which scores count no run have rows as well, in which `is_counted` is false.
    """
    is_counted = F.col("left_out").isNull().alias("is_counted")
    return runs.groupBy("date", *TEST, is_counted).agg(sum_of_seconds(_cost()).alias("cost_s"))


def costs_of_week(days: DataFrame, now: datetime) -> DataFrame:
    """Return test, target, backend and cost_s of each test in the week of `now`, of those of each day."""
    cost = sum_of_seconds(F.when(in_week(now), F.col("cost_s")))
    return days.where("is_counted").groupBy(*TEST).agg(cost.alias("cost_s"))


def costs(runs: DataFrame, now: datetime) -> DataFrame:
    """Return what each test cost in the week of `now`, and its first and last failure.

    Columns beside test, target, backend: title, suite, week_runs, week_red (runs that did not pass), week_retried
    (those that passed after attempts that failed), week_s (duration of all attempts), cost_s (duration of the attempts
    that did not pass, and ten minutes of a person for each red run), last_run_at, last_verdict, first_failed_at,
    first_failed_build, last_failed_at, last_failed_build, passes_since (passes after the last failure), and failure:
    run_id, folder, plan_hash, campaign, headline, ci_url, runner and title of the newest violation.
    """
    rows = counted(runs).withColumn("known_build", build_of(TARGET)).withColumn("failed", failed())
    week = in_week(now)
    is_red_run = is_last_attempt() & red()
    at_failure = F.when(F.col("failed") == 1, F.col("started_at"))
    last = Window.partitionBy(*TEST)
    rows = rows.withColumn("last_failed", F.max(at_failure).over(last))
    shown = ("folder", "plan_hash", "campaign", "headline", "ci_url", "runner", "title")
    newest = F.struct("started_at", "run_id", *shown)
    return rows.groupBy(*TEST).agg(
        F.max_by("title", "started_at").alias("title"),
        F.max_by("suite", "started_at").alias("suite"),
        F.count(F.when(week & is_last_attempt(), 1)).alias("week_runs"),
        F.count(F.when(week & is_red_run, 1)).alias("week_red"),
        F.count(F.when(week & is_retried_pass(), 1)).alias("week_retried"),
        sum_of_seconds(F.when(week, F.col("duration_s"))).alias("week_s"),
        sum_of_seconds(F.when(week, _cost())).alias("cost_s"),
        F.max("started_at").alias("last_run_at"),
        F.max_by("verdict", "started_at").alias("last_verdict"),
        F.min(at_failure).alias("first_failed_at"),
        F.min_by("known_build", at_failure).alias("first_failed_build"),
        F.max(at_failure).alias("last_failed_at"),
        F.max_by("known_build", at_failure).alias("last_failed_build"),
        F.count(F.when((F.col("failed") == 0) & (F.col("started_at") > F.col("last_failed")), 1)).alias("passes_since"),
        F.max(F.when(F.col("failed") == 1, newest)).alias("failure"),
    )


def verdicts_by_build(runs: DataFrame, most: int) -> DataFrame:
    """Return the verdicts of each test on its newest builds, at most `most` of each test.

    Columns beside test, target, backend: build, release, first_run_at, pass, violation, infrastructure, inconclusive
    (numbers of runs), retried (passes after attempts that failed), median_s (of the durations of passes). Runs without
    a known build are one row, with null.
    """
    timed = ~red() & F.col("duration_unknown").isNull()
    on_builds = (
        counted(runs)
        .groupBy(*TEST, build_of(TARGET).alias("build"))
        .agg(
            F.min("release").alias("release"),
            F.min("started_at").alias("first_run_at"),
            *(
                F.count(F.when(is_last_attempt() & (F.col("verdict") == name), 1)).alias(name)
                for name in ("pass", "violation", *HALTS)
            ),
            F.count(F.when(is_retried_pass(), 1)).alias("retried"),
            F.percentile_approx(F.when(timed, F.col("duration_s")), 0.5).alias("median_s"),
        )
    )
    return _first(on_builds, most, F.desc("first_run_at"), F.col("build"))


def newest_runs(runs: DataFrame, most: int) -> DataFrame:
    """Return the newest attempts of each test that did not pass, and the newest that did: at most `most` of each sort.

    Columns beside test, target, backend: run_id, started_at, verdict, build, release, duration_s, headline, folder,
    plan_hash, seed, ci_url, left_out, attempt, attempts (of its run; null for one without).
    """
    rows = runs.withColumn("build", build_of(TARGET)).withColumn("red", red())
    order = Window.partitionBy(*TEST, "red").orderBy(F.desc("started_at"), "run_id")
    return (
        rows.withColumn("place", F.row_number().over(order))
        .where(F.col("place") <= most)
        .select(
            *TEST,
            *("run_id", "started_at", "verdict", "build", "release", "duration_s", "headline"),
            *("folder", "plan_hash", "seed", "ci_url", "left_out", "attempt", "attempts"),
        )
    )


def signatures_by_test(failures: DataFrame, most: int) -> DataFrame:
    """Return the kinds of violations of each test, the most frequent first, at most `most`.

    `failures` are those of each day, by `signatures.failures_by_day`. Columns beside test, target, backend: signature,
    rule, check, message (of the newest), failures (runs), first_seen_at, last_seen_at, last_run.
    """
    kinds = failures.groupBy(*TEST, F.col("of_test").alias("signature")).agg(
        F.max_by("rule", "started_at").alias("rule"),
        F.max_by("check", "started_at").alias("check"),
        F.max_by("message", "started_at").alias("message"),
        F.count_distinct("run_id").alias("failures"),
        F.min("started_at").alias("first_seen_at"),
        F.max("started_at").alias("last_seen_at"),
        F.max_by("run_id", "started_at").alias("last_run"),
    )
    return _first(kinds, most, F.desc("failures"), F.col("signature"))


def times_by_test(timings: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the times of each test, without those of single steps.

    Columns beside test, target, backend: timing, fault_kind, times, unseen (those without an end), median_s, longest_s,
    longest_run.
    """
    return (
        of_counted(timings.where("timing != 'step'"), runs)
        .groupBy(*TEST, "timing", "fault_kind")
        .agg(
            F.count("*").alias("times"),
            F.count(F.when(F.col("seconds").isNull(), 1)).alias("unseen"),
            F.percentile_approx("seconds", 0.5).alias("median_s"),
            F.max("seconds").alias("longest_s"),
            F.max_by("run_id", "seconds").alias("longest_run"),
        )
    )


def _first(rows: DataFrame, most: int, *order: Column) -> DataFrame:
    """Return the first rows of each test in an order."""
    place = F.row_number().over(Window.partitionBy(*TEST).orderBy(*order))
    return rows.withColumn("place", place).where(F.col("place") <= most).drop("place")
