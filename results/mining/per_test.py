"""The facts about each test beside its scores: its last week, its builds, its newest runs, its failures, its times."""

from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from fencepost.results.mining.groups import (
    NOTHING,
    Flags,
    Floats,
    Groups,
    Numbers,
    floats,
    keyed,
    numbers,
    ranks,
    with_columns,
)
from fencepost.results.mining.identity import (
    HALTS,
    TEST,
    is_last_attempt,
    sum_of_seconds,
)

WEEK: Final = timedelta(days=7)
_EPOCH: Final = date(1970, 1, 1).toordinal()
ATTENTION_S: Final = 600
"""Seconds of a person that a red run is taken to cost, beside its own duration."""


def first_day(now: datetime) -> date:
    """Return the first of the last seven days (UTC), of which that of `now` is the last."""
    return now.astimezone(UTC).date() - WEEK + timedelta(days=1)


def _cost() -> Column:
    """Return the seconds that an execution cost: if it did not pass, its duration and the attention for a red run."""
    attention = F.when(is_last_attempt(), ATTENTION_S).otherwise(0)
    return F.when(F.col("verdict") != "pass", F.coalesce("duration_s", F.lit(0.0)) + attention)


def costs_by_day(runs: DataFrame) -> DataFrame:
    """Return what each test cost on each day: date, test, target, backend, is_counted, cost_s.

    Tests of which scores count no run have rows as well, in which `is_counted` is false.
    """
    is_counted = F.col("left_out").isNull().alias("is_counted")
    return runs.groupBy("date", *TEST, is_counted).agg(sum_of_seconds(_cost()).alias("cost_s"))


def costs_of_week(days: pa.Table, now: datetime) -> pa.Table:
    """Return test, target, backend and cost_s of each test in the week of `now`, of those of each day."""
    rows = days.filter(days["is_counted"])
    test, keys = keyed(rows, TEST)
    cost = np.where(_in_week(numbers(rows, "date"), now), floats(rows, "cost_s"), 0.0)
    return keys.append_column("cost_s", pa.array(_seconds(test, cost, keys.num_rows)))


def _in_week(date: Numbers, now: datetime) -> Flags:
    first, last = (each.toordinal() - _EPOCH for each in (first_day(now), now.astimezone(UTC).date()))
    found: Flags = (first <= date) & (date <= last)
    return found


def _seconds(group: Numbers, seconds: Floats, number: int) -> Floats:
    """Return sums of durations. They add up whole microseconds, so the order does not matter."""
    found: Floats = np.bincount(group, np.round(np.nan_to_num(seconds) * 1e6), number) / 1e6
    return found


class Runs:
    """Runs of some tests as arrays: the columns USED, of all attempts and of runs that scores do not count, too."""

    def __init__(self, rows: pa.Table) -> None:
        rows = rows.append_column("known_build", pc.coalesce(*(rows[name].cast(pa.string()) for name in _BUILD)))
        self.rows = rows
        self.test, self.keys = keyed(rows, TEST)
        self.started, self.date = numbers(rows, "started_at"), numbers(rows, "date")
        self.run = ranks(rows["run_id"])[0]
        self.duration = floats(rows, "duration_s")
        verdict, names = ranks(rows["verdict"])
        place = {name: number for number, name in enumerate(names.to_pylist())}
        self.verdicts = {name: verdict == place.get(name, -2) for name in ("pass", "violation", *HALTS)}
        attempts = numbers(rows, "attempts", -1)
        self.is_last = (attempts < 0) | (numbers(rows, "attempt", _MANY) >= attempts)
        self.retried = self.is_last & self.verdicts["pass"] & (attempts > 1)
        self.timed = self.verdicts["pass"] & pc.is_null(rows["duration_unknown"]).to_numpy() & ~np.isnan(self.duration)

    @property
    def red(self) -> Flags:
        """Return whether a run did not pass, for whatever reason."""
        found: Flags = ~self.verdicts["pass"]
        return found

    @cached_property
    def counted(self) -> "Runs":
        """Return the runs that scores count."""
        return self.of(pc.is_null(self.rows["left_out"]))

    def of(self, chosen: Any) -> "Runs":
        return Runs(self.rows.filter(chosen).drop_columns(["known_build"]))

    def counts(self, groups: Groups) -> dict[str, Numbers]:
        """Return for groups of runs the numbers of runs by verdict, and `retried`."""
        found = {name: groups.sum((self.is_last & is_so).astype(np.int64)) for name, is_so in self.verdicts.items()}
        return found | {"retried": groups.sum(self.retried.astype(np.int64))}

    def medians(self, *columns: Numbers) -> pa.Array:
        """Return the median of the durations of passes for the groups of runs by some columns; null without one."""
        groups = Groups.of(*columns)
        ordered = Groups.sorted_by(len(columns), *columns, np.where(self.timed, self.duration, np.inf))
        timed = groups.sum(self.timed.astype(np.int64))
        at = ordered.order[ordered.start + np.maximum((timed + 1) // 2, 1) - 1]
        return pa.array(np.where(timed > 0, self.duration[at], 0.0), mask=timed == 0)


_BUILD: Final = ("build", "release")
_MANY: Final = 2**62
USED: Final = (
    *("date", *TEST, "run_id", "started_at", "verdict", "attempt", "attempts", "left_out", "source", "campaign"),
    *("title", "suite", "build", "release", "commit", "duration_s", "duration_unknown", "headline", "folder"),
    *("plan_hash", "seed", "ci_url", "runner"),
)
"""The columns of runs that the facts of single tests are made of."""
OF_FAILURE: Final = ("run_id", "folder", "plan_hash", "campaign", "headline", "ci_url", "runner", "title")


def costs(runs: Runs, now: datetime) -> pa.Table:
    """Return what each test cost in the week of `now`, and its first and last failure.

    Columns beside test, target, backend: title, suite, week_runs, week_red (runs that did not pass), week_retried
    (those that passed after attempts that failed), week_s (duration of all attempts), cost_s (duration of the attempts
    that did not pass, and ten minutes of a person for each red run), last_run_at, last_verdict, first_failed_at,
    first_failed_build, last_failed_at, last_failed_build, passes_since (passes after the last failure), and failure:
    OF_FAILURE and started_at of the newest violation.
    """
    runs = runs.counted
    rows, keys, test = runs.rows, runs.keys, runs.test
    tests = keys.num_rows
    in_time = Groups.sorted_by(1, test, runs.started, runs.run)
    last = in_time.last(np.arange(len(test)))
    failures = np.flatnonzero(runs.verdicts["violation"])
    failed = Groups.sorted_by(1, test[failures], runs.started[failures], runs.run[failures])
    first_failed, last_failed = (np.full(tests, -1) for _ in range(2))
    first_failed[failed.first(test[failures])] = failed.first(failures)
    last_failed[failed.first(test[failures])] = failed.last(failures)
    since = np.where(last_failed >= 0, runs.started[last_failed], NOTHING) if len(test) else np.zeros(0, dtype=np.int64)
    passed_since = runs.verdicts["pass"] & (runs.started > since[test]) & (last_failed >= 0)[test]
    week = _in_week(runs.date, now)
    cost = np.where(runs.red & week, np.nan_to_num(runs.duration) + np.where(runs.is_last, ATTENTION_S, 0), 0.0)

    def number(chosen: Flags) -> Numbers:
        return np.bincount(test, chosen, tests).astype(np.int64)

    def at(place: Numbers, name: str) -> Any:
        return rows[name].combine_chunks().take(pa.array(place, mask=place < 0))

    newest = pa.StructArray.from_arrays(
        [at(last_failed, name) for name in ("started_at", *OF_FAILURE)], ["started_at", *OF_FAILURE]
    )
    columns = {
        "title": at(last, "title"),
        "suite": at(last, "suite"),
        "week_runs": number(week & runs.is_last),
        "week_red": number(week & runs.is_last & runs.red),
        "week_retried": number(week & runs.retried),
        "week_s": _seconds(test, np.where(week, runs.duration, 0.0), tests),
        "cost_s": _seconds(test, cost, tests),
        "last_run_at": at(last, "started_at"),
        "last_verdict": at(last, "verdict"),
        "first_failed_at": at(first_failed, "started_at"),
        "first_failed_build": at(first_failed, "known_build"),
        "last_failed_at": at(last_failed, "started_at"),
        "last_failed_build": at(last_failed, "known_build"),
        "passes_since": number(passed_since),
        "failure": pc.if_else(pa.array(last_failed >= 0), newest, pa.scalar(None, newest.type)),
    }
    return with_columns(keys, columns)


def verdicts_by_build(runs: Runs, most: int) -> pa.Table:
    """Return the verdicts of each test on its newest builds, at most `most` of each test.

    Columns beside test, target, backend: build, release, first_run_at, pass, violation, infrastructure, inconclusive
    (numbers of runs), retried (passes after attempts that failed), median_s (of the durations of passes). Runs without
    a known build are one row, with null.
    """
    runs = runs.counted
    rows, test = runs.rows, runs.test
    build, release = (ranks(rows[name])[0] for name in ("known_build", "release"))
    groups = Groups.of(test, build)
    oldest = Groups.sorted_by(2, test, build, runs.started).first(np.arange(len(test)))
    named = np.where(release >= 0, release, np.iinfo(np.int64).max)
    released = Groups.sorted_by(2, test, build, named).first(np.arange(len(test)))
    columns = {
        "build": rows["known_build"].take(oldest),
        "release": rows["release"].take(released),
        "first_run_at": rows["started_at"].take(oldest),
        **runs.counts(groups),
        "median_s": runs.medians(test, build),
    }
    found = with_columns(runs.keys.take(groups.first(test)), columns)
    order = Groups.sorted_by(1, groups.first(test), -runs.started[oldest], groups.first(build))
    return found.take(order.order[order.places < most])


def newest_runs(runs: Runs, most: int) -> pa.Table:
    """Return the newest attempts of each test that did not pass, and the newest that did: at most `most` of each sort.

    Columns beside test, target, backend: OF_RUN.
    """
    order = Groups.sorted_by(2, runs.test, runs.red, -runs.started, runs.run)
    return shown(runs, order.order[order.places < most])


OF_RUN: Final = (
    *("run_id", "started_at", "verdict", "build", "release", "duration_s", "headline"),
    *("folder", "plan_hash", "seed", "ci_url", "left_out", "attempt", "attempts"),
)
"""The columns of a run that is shown; `attempts` is null for one without several."""


def shown(runs: Runs, places: Numbers) -> pa.Table:
    """Return some runs with test, target, backend and OF_RUN."""
    rows = runs.rows.take(places)
    known = rows.set_column(rows.schema.get_field_index("build"), "build", rows["known_build"])
    return known.select([*TEST, *OF_RUN])


def signatures_by_test(failures: pa.Table, most: int) -> pa.Table:
    """Return the kinds of violations of each test, the most frequent first, at most `most`.

    `failures` are those of each day, by `signatures.failures_by_day`. Columns beside test, target, backend: signature,
    rule, check, message (of the newest), failures (runs), first_seen_at, last_seen_at, last_run.
    """
    key, keys = keyed(failures, (*TEST, "of_test"))
    run = ranks(failures["run_id"])[0]
    in_time = Groups.sorted_by(1, key, numbers(failures, "started_at"), run)
    oldest, newest = in_time.first(np.arange(len(key))), in_time.last(np.arange(len(key)))
    of_runs = np.bincount(Groups.of(key, run).first(key), minlength=keys.num_rows)
    columns = {
        **{name: failures[name].take(newest) for name in ("rule", "check", "message")},
        "failures": of_runs,
        "first_seen_at": failures["started_at"].take(oldest),
        "last_seen_at": failures["started_at"].take(newest),
        "last_run": failures["run_id"].take(newest),
    }
    found = with_columns(keys.rename_columns([*TEST, "signature"]), columns)
    test, _ = keyed(found, TEST)
    order = Groups.sorted_by(1, test, -of_runs, ranks(found["signature"])[0])
    return found.take(order.order[order.places < most])


def times_by_test(timings: pa.Table) -> pa.Table:
    """Return the times of each test, without those of single steps.

    `timings` have the columns of `times.DURATION`, of runs that scores count. Columns beside test, target, backend:
    timing, fault_kind, times, unseen (those without an end), median_s, longest_s, longest_run.
    """
    rows = timings.filter(pc.not_equal(timings["timing"].cast(pa.string()), "step"))
    key, keys = keyed(rows, (*TEST, "timing", "fault_kind"))
    seconds = floats(rows, "seconds")
    is_seen = ~np.isnan(seconds)
    order = Groups.sorted_by(1, key, np.where(is_seen, seconds, -np.inf), ranks(rows["run_id"])[0])
    seen = order.sum(is_seen.astype(np.int64))
    at = order.order[order.start + order.sizes - seen + np.maximum((seen + 1) // 2, 1) - 1] if len(key) else order.order
    longest = order.last(np.arange(len(key)))
    none = seen == 0
    columns = {
        "times": order.sizes,
        "unseen": order.sizes - seen,
        "median_s": pa.array(seconds[at], mask=none),
        "longest_s": pa.array(seconds[longest], mask=none),
        "longest_run": rows["run_id"].take(pa.array(longest, mask=none)),
    }
    return with_columns(keys, columns)
