"""What is computed from the tables: verdicts and durations, flips, slow phases, requirements.

A flip is a run whose verdict differs from the one before it, of the same story on the same target. Runs with the
verdict `infrastructure` say nothing about the rules and take no part in flips. Two kinds are kept apart:

- same plan: nothing was different but chance and the code, so a flip is nondeterminism or a change;
- other plan: seed or schedule changed, so a flip is what the chaos found.

The rate is flips / pairs of neighbours, of that kind alone (null without pairs).
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

VERDICTS = ("pass", "violation", "infrastructure", "inconclusive")
SLOWEST = 15


def stories(runs: DataFrame) -> DataFrame:
    """One row a story and target: how many runs ended how, and how long they took (seconds)."""
    counts = [F.count(F.when(F.col("verdict") == name, 1)).alias(name) for name in VERDICTS]
    return (
        runs.groupBy("story", "target")
        .agg(
            F.count("*").alias("runs"),
            *counts,
            F.percentile_approx("duration", 0.5).alias("median_s"),
            F.max("duration").alias("longest_s"),
        )
        .orderBy("target", "story")
    )


def flips(runs: DataFrame) -> DataFrame:
    """One row a story and target: rates of both kinds, and the first run of each kind that flipped."""
    order = Window.partitionBy("story", "target").orderBy("started", "run")
    conclusive = runs.where(F.col("verdict") != "infrastructure")
    pairs = conclusive.select(
        "story",
        "target",
        "run",
        "started",
        (F.lag("verdict").over(order) != F.col("verdict")).alias("flipped"),
        (F.lag("plan_hash").over(order) == F.col("plan_hash")).alias("same_plan"),
    ).where(F.col("flipped").isNotNull())
    return pairs.groupBy("story", "target").agg(
        *_rates(F.col("same_plan"), "same_plan"), *_rates(~F.col("same_plan"), "other_plan")
    )


def _rates(kind: Column, name: str) -> tuple[Column, Column, Column]:
    flip = kind & F.col("flipped")
    return (
        F.count(F.when(kind, 1)).alias(f"{name}_pairs"),
        F.avg(F.when(kind, F.col("flipped").cast("int"))).alias(f"{name}_flip_rate"),
        F.min_by(F.when(flip, F.col("run")), F.when(flip, F.struct("started", "run"))).alias(f"{name}_first_flip"),
    )


def slowest(steps: DataFrame) -> DataFrame:
    """The steps and phases that take longest in the median (seconds), and how often they missed."""
    return (
        steps.groupBy("target", "story", "step")
        .agg(
            F.count("*").alias("times"),
            F.percentile_approx("seconds", 0.5).alias("median_s"),
            F.max("seconds").alias("longest_s"),
            F.count(F.when(F.col("outcome") != "done", 1)).alias("not_done"),
        )
        .orderBy(F.desc("median_s"), "target", "story", "step")
        .limit(SLOWEST)
    )


def requirements(findings: DataFrame) -> DataFrame:
    """One row a requirement and target: in how many runs it held, was broken as listed, broken, or was not covered."""
    of_run = (
        findings.where(F.col("requirement").isNotNull())
        .groupBy("requirement", "target", "run")
        .agg(
            F.max(F.when(F.col("verdict") == "violation", 1).otherwise(0)).alias("broken"),
            F.max(F.when(F.col("verdict") == "inconclusive", 1).otherwise(0)).alias("open"),
            F.max(F.when(F.col("difference").isNotNull() & (F.col("verdict") == "pass"), 1).otherwise(0)).alias(
                "listed"
            ),
        )
    )
    broken, open_, listed = F.col("broken") == 1, F.col("open") == 1, F.col("listed") == 1
    return (
        of_run.groupBy("requirement", "target")
        .agg(
            F.count(F.when(~broken & ~open_ & ~listed, 1)).alias("held"),
            F.count(F.when(~broken & ~open_ & listed, 1)).alias("as_listed"),
            F.count(F.when(broken, 1)).alias("broken"),
            F.count(F.when(~broken & open_, 1)).alias("not_covered"),
        )
        .orderBy("requirement", "target")
    )
