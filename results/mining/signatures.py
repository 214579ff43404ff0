"""Failures of one kind: their number, since when, in which state of the cluster, and the plan that shows them."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.groups import Groups, Numbers, keyed, numbers, ranks, sorted_rows, with_columns
from fencepost.results.mining.identity import TARGET, TEST, build_of, counted

NEW = timedelta(days=7)
"""A signature is new if it was first seen within this time."""
MOST = 5
"""The tests and faults that a row names."""
QUIET = "no fault"
"""The state of a failure before the first fault of its run."""


def failures_by_day(findings: DataFrame, faults: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the violations of each run, one for each signature: that at its first time.

    Columns: date, test, target, backend, signature (of the cause), of_test (the one that is stored), masking, rule,
    check, masked, message, run_id, started_at, known_build, plan_hash, plan_steps, state (of the cluster) and kind (of
    the last fault).
    """
    shown = findings.where("finding = 'violation' and part_of is null").select(
        "date",
        *TEST,
        _of_cause().alias("signature"),
        F.col("signature").alias("of_test"),
        *("run_id", "started_at", "masking", "rule", "check", "masked", "message"),
        build_of(TARGET).alias("known_build"),
        F.coalesce("at_s", F.lit(float("inf"))).alias("at_s"),
    )
    # A run with a violation has that verdict: the others leave before anything is joined.
    violated = F.col("verdict") == "violation"
    plans = counted(runs).where(violated).select("run_id", "plan_hash", "plan_steps")
    # A run that has a signature twice is one failure, at its first time.
    times = Window.partitionBy("run_id", "signature", "masking").orderBy("at_s")
    failures = _with_last_fault(shown, faults.where(violated)).withColumn("time", F.row_number().over(times))
    state = F.when(F.col("last").isNull(), QUIET).otherwise(F.col("last.cluster"))
    placed = failures.where("time = 1").withColumns({"state": state, "kind": F.col("last.kind")})
    return placed.drop("time", "last", "at_s").join(plans, "run_id")


def signatures(failures: pa.Table, now: datetime) -> pa.Table:
    """Return the violations by broken rule, masked message and state of the cluster, the most frequent first.

    `failures` are those of each day, by `failures_by_day`. Columns: signature, masking, state, rule, check, masked,
    message (of the newest), failures (runs), tests (up to 5, the most frequent first), test_count, targets, faults
    (kinds of the fault before it, up to 5), first_seen_at, last_seen_at, first_build, last_build, new (first seen in
    the week before `now`), last_run, and of the shortest plan that can be replayed plan_hash, plan_steps and plan_run.

    `state` is that of the cluster when the last fault before the failure was ordered, `no fault` without one, null if
    it was not recorded. The store masks messages when it is published, with a versioned list of patterns in place of
    templates that depend on the order of the messages: so a signature never changes, and months can be compared.
    Source: failure signatures of Chromium's LUCI (masked reasons, hashed).
    """
    # Check, rule and masked message follow from the signature.
    key, keys = keyed(failures, ("signature", "masking", "state"))
    started, run = numbers(failures, "started_at"), ranks(failures["run_id"])[0]
    rows = np.arange(len(key))
    in_time = Groups.sorted_by(1, key, started, run)
    oldest, newest = in_time.first(rows), in_time.last(rows)
    replayable = np.flatnonzero(pc.and_(*(pc.is_valid(failures[name]) for name in ("plan_hash", "plan_steps"))))
    steps = numbers(failures, "plan_steps")
    plans = Groups.sorted_by(1, *(each[replayable] for each in (key, steps, started, run)))
    shortest = np.full(len(oldest), -1)
    shortest[plans.first(key[replayable])] = plans.first(replayable)
    plan = pa.array(shortest, mask=shortest < 0)
    test, _ = keyed(failures, TEST)
    of_tests = Groups.of(key, test)
    since = int((now - NEW - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))
    columns = {
        **{name: failures[name].take(newest) for name in ("rule", "check", "masked", "message")},
        "failures": in_time.sizes,
        "first_seen_at": failures["started_at"].take(oldest),
        "last_seen_at": failures["started_at"].take(newest),
        "first_build": failures["known_build"].take(oldest),
        "last_build": failures["known_build"].take(newest),
        "new": started[oldest] >= since,
        "last_run": failures["run_id"].take(newest),
        "plan_hash": failures["plan_hash"].take(plan),
        "plan_steps": failures["plan_steps"].take(plan),
        "plan_run": failures["run_id"].take(plan),
        "test_count": np.bincount(of_tests.first(key), minlength=keys.num_rows),
        "targets": _values(key, failures["target"], keys.num_rows, by_number=False),
        "tests": _values(key, failures["test"], keys.num_rows),
        "faults": _values(key, failures["kind"], keys.num_rows),
    }
    found = with_columns(keys, columns)
    return sorted_rows(found, ("-failures", "signature", "masking", "rule", "check", "state", "masked"))


def _of_cause() -> Column:
    """Return `masked_signature` of check, rule and masked message, which is that of no single test.

    The one that imports store has the test as well, for results without a message, which have nothing in common.
    """
    parts = F.concat_ws("\0", "check", F.coalesce("rule", F.lit("")), "masked")
    return F.when(F.col("masked") != "", F.substring(F.sha2(parts, 256), 1, 16)).otherwise(F.col("signature"))


def _with_last_fault(failures: DataFrame, faults: DataFrame) -> DataFrame:
    """Add the column `last`: kind and cluster (its state) of the last fault ordered before or at a failure.

    Both are in one order of time, which moves the rows of a run once; a join would move them again for its result.
    """
    fault = F.struct("kind", F.col("cluster_state").alias("cluster")).alias("fault")
    ordered = faults.select("run_id", F.col("ordered_s").alias("at_s"), fault)
    events = failures.unionByName(ordered, allowMissingColumns=True)
    failed = F.col("signature").isNotNull()
    until = Window.partitionBy("run_id").orderBy("at_s", failed).rowsBetween(Window.unboundedPreceding, 0)
    return events.withColumn("last", F.last("fault", ignorenulls=True).over(until)).where(failed).drop("fault")


def _values(key: Numbers, column: pa.ChunkedArray, keys: int, *, by_number: bool = True) -> pa.Array:
    """Return the values of a column for each key: all in order, or the most frequent ones (`MOST`); null for none."""
    rank, values = ranks(column)
    there = rank >= 0
    groups = Groups.of(key[there], rank[there])
    of, value = groups.first(key[there]), groups.first(rank[there])
    ordered = Groups.sorted_by(1, of, -groups.sizes if by_number else value, value)
    listed: list[list[str]] = [[] for _ in range(keys)]
    texts = values.to_pylist()
    for row in ordered.order[ordered.places < (MOST if by_number else len(texts))].tolist():
        listed[of[row]].append(texts[value[row]])
    return pa.array([each or None for each in listed], pa.list_(pa.string()))
