"""The scores: verdicts and durations, flips, slow phases, requirements.

A flip is a run whose verdict differs from the one before it, of the same scenario on the same target and backend: a
plan does not name the backend, and containers are slower than processes. Runs with the verdict `infrastructure` prove
nothing about the rules and are left out of flips. Two kinds are counted separately:

- same plan: only chance and the code may differ, so a flip is nondeterminism or a change of the code;
- other plan: the seed or the schedule changed, so a flip is a find of the chaos.

The rate is flips / pairs of neighbours, of that kind alone (null without pairs).
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.records.folder import RANDOM_PLANS

VERDICTS = ("pass", "violation", "infrastructure", "inconclusive")
SLOWEST = 15
_SCENARIO = ("scenario", "target", "backend")


def scenarios(runs: DataFrame) -> DataFrame:
    """Return for each scenario, target and backend the number of runs by verdict, and their durations in seconds."""
    counts = [F.count(F.when(F.col("verdict") == name, 1)).alias(name) for name in VERDICTS]
    named = F.when(F.col("campaign").isNotNull(), RANDOM_PLANS).otherwise(F.col("scenario"))
    return (
        runs.withColumn("scenario", named)
        .groupBy(*_SCENARIO)
        .agg(
            F.count("*").alias("runs"),
            *counts,
            F.percentile_approx("duration", 0.5).alias("median_s"),
            F.max("duration").alias("longest_s"),
        )
        .orderBy("target", "scenario", "backend")
    )


def flips(runs: DataFrame) -> DataFrame:
    """Return for each scenario, target and backend the flip rates of both kinds, and the first flipped run of each.

    Runs of campaigns have no neighbours and are left out.
    """
    order = Window.partitionBy(*_SCENARIO).orderBy("started", "run")
    conclusive = runs.where((F.col("verdict") != "infrastructure") & F.col("campaign").isNull())
    pairs = conclusive.select(
        *_SCENARIO,
        "run",
        "started",
        (F.lag("verdict").over(order) != F.col("verdict")).alias("flipped"),
        (F.lag("plan_hash").over(order) == F.col("plan_hash")).alias("same_plan"),
    ).where(F.col("flipped").isNotNull())
    return pairs.groupBy(*_SCENARIO).agg(
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
    """Return the steps and phases with the longest median duration (seconds), and how often each was not done.

    Steps of random plans are left out: no other run has them.
    """
    return (
        steps.where(F.col("campaign").isNull())
        .groupBy("target", "backend", "scenario", "step")
        .agg(
            F.count("*").alias("times"),
            F.percentile_approx("seconds", 0.5).alias("median_s"),
            F.max("seconds").alias("longest_s"),
            F.count(F.when(F.col("outcome") != "done", 1)).alias("not_done"),
        )
        .orderBy(F.desc("median_s"), "target", "backend", "scenario", "step")
        .limit(SLOWEST)
    )


def requirements(findings: DataFrame, not_exercised: DataFrame, rules: DataFrame) -> DataFrame:
    """Return for each requirement and target the number of runs by state, and the rule in words.

    A run has the worst state of its findings, of which one may judge several requirements. A run is `not_exercised` if
    every check of the requirement had nothing to judge, or if it only names the requirement.
    """
    verdict = F.col("verdict")
    listed = F.col("difference").isNotNull() & (verdict == "pass")
    judged = (verdict == "pass") & (F.coalesce("evidence.judged", F.lit(1)) > 0)
    state = (
        F.when(F.bool_or(verdict == "violation"), "broken")
        .when(F.bool_or(verdict == "inconclusive"), "not_covered")
        .when(F.bool_or(listed), "as_listed")
        .when(F.bool_or(judged), "held")
        .otherwise("not_exercised")
    )
    ids = F.concat(F.array("requirement"), F.coalesce("also", F.array().cast("array<string>")))
    judging = findings.withColumn("requirement", F.explode(ids)).where("requirement is not null")
    judging = judging.unionByName(not_exercised, allowMissingColumns=True)
    of_run = judging.groupBy("requirement", "target", "run").agg(state.alias("state"))
    states = ("held", "as_listed", "broken", "not_covered", "not_exercised")
    counts = [F.count(F.when(F.col("state") == name, 1)).alias(name) for name in states]
    counted = of_run.groupBy("requirement", "target").agg(*counts)
    return counted.join(rules, "requirement", "left").orderBy("requirement", "target")
