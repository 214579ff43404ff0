"""Which rules were judged on which target, and which faults hit which roles in which states."""

from pyspark.sql import DataFrame, Window
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
    places = counted(runs).select("target", "backend").distinct()
    state = F.col("state")
    key = ("rule", "target", "backend")
    judged = requirements.select(*key, build_of(TARGET).alias("build"), "run_id", "started_at", "state")
    judged = of_counted(judged, runs)
    evidence = state.isin("held", "as listed", "broken")
    weight = F.array_position(F.array(*map(F.lit, WEIGHTS)), state)
    on_builds = judged.groupBy(*key, "build").agg(
        *(F.count(F.when(state == each, 1)).alias(each.replace(" ", "_")) for each in WEIGHTS),
        F.max(F.when(evidence, F.col("started_at"))).alias("evidence_at"),
        F.max(F.when(state == "broken", F.col("started_at"))).alias("broken_at"),
        F.min(weight).alias("weight"),
    )
    newest = F.when(F.col("evidence_at").isNotNull(), F.struct("evidence_at", "build", "weight"))
    rows = on_builds.groupBy(*key).agg(
        *(F.sum(each.replace(" ", "_")).alias(each.replace(" ", "_")) for each in WEIGHTS),
        F.max("broken_at").alias("broken_at"),
        F.max(newest).alias("newest"),
    )
    rows = computed(rows.select("*", "newest.*").drop("newest"))
    rows = rows.join(F.broadcast(_newest_runs(judged.where(evidence), rows, key)), list(key), "left")
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
        F.col("evidence_at").alias("last_evidence_at"),
        "last_run",
        F.col("build").alias("last_build"),
        "broken_run",
    )


def _newest_runs(judged: DataFrame, rows: DataFrame, key: tuple[str, ...]) -> DataFrame:
    """Return the keys with last_run and broken_run: the runs that started at evidence_at and at broken_at.

    Spark sorts all rows for an aggregate that holds text: so the times are found first, and then their runs.
    """
    at = F.explode(F.array_distinct(F.array("evidence_at", "broken_at")))
    there = judged.join(
        F.broadcast(rows.select(*key, "evidence_at", "broken_at", at.alias("started_at"))), [*key, "started_at"]
    )
    last = F.col("started_at") == F.col("evidence_at")
    broken = (F.col("started_at") == F.col("broken_at")) & (F.col("state") == "broken")
    return there.groupBy(*key).agg(
        F.max(F.when(last, F.col("run_id"))).alias("last_run"),
        F.max(F.when(broken, F.col("run_id"))).alias("broken_run"),
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
    places = hits.select("target", *place).distinct()
    places = computed(places.withColumn("place", F.row_number().over(Window.orderBy("target", *place))))
    # One row for each combination and run, because a fault that hits three followers is one hit. A hash of 64 bits
    # stands for a run, as numbers are grouped faster than text: of ten million runs two have the same one in one of
    # 300,000 stores.
    of_runs = hits.join(F.broadcast(places), ["target", *place]).select(
        "place",
        F.xxhash64("run_id").alias("run"),
        F.col("proven_s").isNotNull().alias("proven"),
        (F.col("verdict") == "violation").alias("violation"),
        "started_at",
    )
    # Nearly all rows are groups of their own, so counting each file's before they are brought together saves nothing.
    once = (
        of_runs.repartition("run")
        .groupBy("place", "run")
        .agg(
            F.bool_or("proven").alias("proven"),
            F.bool_or("violation").alias("violation"),
            F.max("started_at").alias("started_at"),
        )
    )
    counts = once.groupBy("place").agg(
        F.count("*").alias("runs"),
        F.count(F.when(F.col("proven"), 1)).alias("proven"),
        F.count(F.when(F.col("violation"), 1)).alias("violations"),
        F.max("started_at").alias("last_at"),
    )
    counts = computed(places.join(F.broadcast(counts), "place").drop("place"))
    every = counts.select("target", "kind").distinct()
    for column in ("role", "cluster_state"):
        every = every.join(counts.select("target", column).distinct(), "target")
    return every.join(counts, ["target", *place], "left").na.fill(0, ["runs", "proven", "violations"])
