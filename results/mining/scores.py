"""What is computed from the tables: verdicts and durations, flips, slow phases, requirements.

A flip is a run whose verdict differs from the one before it, of the same story on the same target and backend: a plan
does not say in what it is run, and containers are slower than processes. Runs with the
verdict `infrastructure` say nothing about the rules and take no part in flips. Two kinds are kept apart:

- same plan: nothing was different but chance and the code, so a flip is nondeterminism or a change;
- other plan: seed or schedule changed, so a flip is what the chaos found.

The rate is flips / pairs of neighbours, of that kind alone (null without pairs).
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

VERDICTS = ("pass", "violation", "infrastructure", "inconclusive")
SLOWEST = 15
_STORY = ("story", "target", "backend")


def stories(runs: DataFrame) -> DataFrame:
    """One row a story, target and backend: how many runs ended how, and how long they took (seconds)."""
    counts = [F.count(F.when(F.col("verdict") == name, 1)).alias(name) for name in VERDICTS]
    return (
        runs.groupBy(*_STORY)
        .agg(
            F.count("*").alias("runs"),
            *counts,
            F.percentile_approx("duration", 0.5).alias("median_s"),
            F.max("duration").alias("longest_s"),
        )
        .orderBy("target", "story", "backend")
    )


def flips(runs: DataFrame) -> DataFrame:
    """One row a story, target and backend: rates of both kinds, and the first run of each kind that flipped."""
    order = Window.partitionBy(*_STORY).orderBy("started", "run")
    conclusive = runs.where(F.col("verdict") != "infrastructure")
    pairs = conclusive.select(
        *_STORY,
        "run",
        "started",
        (F.lag("verdict").over(order) != F.col("verdict")).alias("flipped"),
        (F.lag("plan_hash").over(order) == F.col("plan_hash")).alias("same_plan"),
    ).where(F.col("flipped").isNotNull())
    return pairs.groupBy(*_STORY).agg(
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
        steps.groupBy("target", "backend", "story", "step")
        .agg(
            F.count("*").alias("times"),
            F.percentile_approx("seconds", 0.5).alias("median_s"),
            F.max("seconds").alias("longest_s"),
            F.count(F.when(F.col("outcome") != "done", 1)).alias("not_done"),
        )
        .orderBy(F.desc("median_s"), "target", "backend", "story", "step")
        .limit(SLOWEST)
    )


def requirements(findings: DataFrame) -> DataFrame:
    """One row a requirement and target: how many runs came to which state, the worst of their findings.

    `idle` is a run in which every check of it had nothing to judge: it held over nothing.
    """
    verdict = F.col("verdict")
    listed = F.col("difference").isNotNull() & (verdict == "pass")
    judged = (verdict == "pass") & (F.coalesce("evidence.judged", F.lit(1)) > 0)
    state = (
        F.when(F.bool_or(verdict == "violation"), "broken")
        .when(F.bool_or(verdict == "inconclusive"), "not_covered")
        .when(F.bool_or(listed), "as_listed")
        .when(F.bool_or(judged), "held")
        .otherwise("idle")
    )
    of_run = findings.where("requirement is not null").groupBy("requirement", "target", "run").agg(state.alias("state"))
    states = ("held", "as_listed", "broken", "not_covered", "idle")
    counts = [F.count(F.when(F.col("state") == name, 1)).alias(name) for name in states]
    return of_run.groupBy("requirement", "target").agg(*counts).orderBy("requirement", "target")
