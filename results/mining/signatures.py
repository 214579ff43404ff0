"""Failures of one kind: their number, since when, in which state of the cluster, and the plan that shows them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

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


def signatures(failures: DataFrame, now: datetime) -> DataFrame:
    """Return the violations by broken rule, masked message and state of the cluster, the most frequent first.

    `failures` are those of each day, by `failures_by_day`. Columns: signature, masking, rule, check, state, masked,
    message (of the newest), failures (runs), tests (up to 5, the most frequent first), test_count, targets, faults
    (kinds of the fault before it, up to 5), first_seen_at, last_seen_at, first_build, last_build, new (first seen in
    the week before `now`), last_run, and of the shortest plan that can be replayed plan_hash, plan_steps and plan_run.

    `state` is that of the cluster when the last fault before the failure was ordered, `no fault` without one, null if
    it was not recorded. The store masks messages when it is published, with a versioned list of patterns in place of
    templates that depend on the order of the messages: so a signature never changes, and months can be compared.
    Source: failure signatures of Chromium's LUCI (masked reasons, hashed).
    """
    # Check, rule and masked message follow from the signature.
    key = ("signature", "masking", "state")
    plan = F.struct("plan_steps", "started_at", "run_id")
    rows = failures.groupBy(*key).agg(
        *(F.max_by(name, "started_at").alias(name) for name in ("rule", "check", "masked", "message")),
        F.count("*").alias("failures"),
        F.min("started_at").alias("first_seen_at"),
        F.max("started_at").alias("last_seen_at"),
        F.min_by("known_build", "started_at").alias("first_build"),
        F.max_by("known_build", "started_at").alias("last_build"),
        (F.min("started_at") >= F.lit(now - NEW)).alias("new"),
        F.max_by("run_id", "started_at").alias("last_run"),
        F.min_by(
            F.struct("plan_hash", "plan_steps", F.col("run_id").alias("plan_run")),
            F.when(F.col("plan_hash").isNotNull() & F.col("plan_steps").isNotNull(), plan),
        ).alias("plan"),
    )
    tests = failures.select(*key, *TEST).distinct()
    numbers = tests.groupBy(*key).agg(
        F.count("*").alias("test_count"), F.array_sort(F.collect_set("target")).alias("targets")
    )
    for facts in (numbers, _commonest(failures, key, "test", "tests"), _commonest(failures, key, "kind", "faults")):
        same = [rows[each].eqNullSafe(facts[each]) for each in key]
        added = (facts[each] for each in facts.columns if each not in key)
        rows = rows.join(facts, same, "left").select(*(rows[each] for each in rows.columns), *added)
    kinds = rows.select("*", "plan.*").drop("plan")
    return kinds.orderBy(F.desc("failures"), "signature", "masking", "rule", "check", "state", "masked")


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


def _commonest(rows: DataFrame, key: Sequence[str], column: str, name: str) -> DataFrame:
    """Return the most frequent values of a column for each key, at most `MOST`."""
    counts = rows.where(F.col(column).isNotNull()).groupBy(*key, F.col(column).alias("value"))
    ranked = counts.agg((-F.count("*")).alias("less")).groupBy(*key)
    values = F.transform(F.array_sort(F.collect_list(F.struct("less", "value"))), lambda each: each["value"])
    return ranked.agg(F.slice(values, 1, MOST).alias(name))
