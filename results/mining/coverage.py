"""Which rules were judged on which target, and which faults hit which roles in which states."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from fencepost.results.mining.computed import computed
from fencepost.results.mining.identity import TARGET, build_of, counted, of_counted

WEIGHTS = ("broken", "not covered", "as listed", "held", "not exercised")
"""The states of a requirement in a run, the weightiest first."""
NEVER = "never exercised"


def coverage(requirements: DataFrame, runs: DataFrame, catalogue: DataFrame) -> DataFrame:
    """Return the state of each rule of the catalogue on each backend on which its target has runs.

    `catalogue` has the columns rule, says and target: a row for each target that owes the rule. Columns: rule, says,
    target, backend, state, held, as_listed, broken, not_covered, idle (numbers of runs), last_evidence_at, last_run and
    last_build (the newest run in which it was held, as listed or broken), broken_run (the newest in which it was
    broken).

    `state` is the weightiest one in the runs on the newest build that has evidence: broken, not covered, as listed,
    held. Without evidence it is `not covered` if a check was inconclusive, `idle` if all checks of it had nothing to
    judge, and `never exercised` if no run names the rule.
    """
    known = counted(runs).select("run_id", build_of(TARGET).alias("known_build"))
    places = counted(runs).select("target", "backend").distinct()
    state = F.col("state")
    judged = requirements.select("run_id", "rule", "target", "backend", "started_at", "state").join(known, "run_id")
    evidence = state.isin("held", "as listed", "broken")
    newest = F.max(F.when(evidence, F.struct("started_at", "run_id", "known_build")))
    weight = F.array_position(F.array(*map(F.lit, WEIGHTS)), state)
    key = ("rule", "target", "backend")
    on_builds = judged.groupBy(*key, "known_build").agg(
        *(F.count(F.when(state == each, 1)).alias(each.replace(" ", "_")) for each in WEIGHTS),
        newest.alias("newest"),
        F.max(F.when(state == "broken", F.struct("started_at", "run_id"))).alias("broken_at"),
        F.min(weight).alias("weight"),
    )
    here = F.when(F.col("newest").isNotNull(), F.struct(F.col("newest.started_at").alias("at"), "weight"))
    rows = on_builds.groupBy(*key).agg(
        *(F.sum(each.replace(" ", "_")).alias(each.replace(" ", "_")) for each in WEIGHTS),
        F.max("newest").alias("newest"),
        F.max("broken_at").alias("broken_at"),
        F.max(here)["weight"].alias("weight"),
    )
    every = F.broadcast(catalogue.select("rule", "says", "target")).join(F.broadcast(places), "target")
    counts = [F.coalesce(F.col(each.replace(" ", "_")), F.lit(0)) for each in WEIGHTS]
    names = ("broken", "not_covered", "as_listed", "held", "idle")
    return every.join(rows, list(key), "left").select(
        "rule",
        "says",
        "target",
        "backend",
        F.when(F.col("weight").isNotNull(), F.element_at(F.array(*map(F.lit, WEIGHTS)), F.col("weight").cast("int")))
        .when(F.col("not_covered") > 0, "not covered")
        .when(F.col("not_exercised") > 0, "idle")
        .otherwise(NEVER)
        .alias("state"),
        *(count.alias(name) for count, name in zip(counts, names, strict=True)),
        F.col("newest.started_at").alias("last_evidence_at"),
        F.col("newest.run_id").alias("last_run"),
        F.col("newest.known_build").alias("last_build"),
        F.col("broken_at.run_id").alias("broken_run"),
    )


def reached(faults: DataFrame, runs: DataFrame) -> DataFrame:
    """Return how often each kind of fault hit each role in each state of the cluster, also if it never did.

    Columns: target, kind, role, cluster_state, runs, proven (runs in which its effect was measured), violations (runs),
    last_at. The rows are all combinations of the kinds, roles and states that the target has had: a campaign that
    learns reads those with few runs.
    """
    place = ("kind", "role", "cluster_state")
    hits = of_counted(faults.where("role is not null"), runs)
    hits = hits.withColumn("cluster_state", F.coalesce("cluster_state", F.lit("not recorded")))
    # One row for each combination and run, because a fault that hits three followers is one hit.
    once = hits.groupBy("target", *place, "run_id").agg(
        F.bool_or(F.col("proven_s").isNotNull()).alias("proven"),
        F.bool_or(F.col("verdict") == "violation").alias("violation"),
        F.max("started_at").alias("started_at"),
    )
    counts = once.groupBy("target", *place).agg(
        F.count("*").alias("runs"),
        F.count(F.when(F.col("proven"), 1)).alias("proven"),
        F.count(F.when(F.col("violation"), 1)).alias("violations"),
        F.max("started_at").alias("last_at"),
    )
    counts = computed(counts)
    every = counts.select("target", "kind").distinct()
    for column in ("role", "cluster_state"):
        every = every.join(counts.select("target", column).distinct(), "target")
    return every.join(counts, ["target", *place], "left").na.fill(0, ["runs", "proven", "violations"])
