"""Which rules were judged on which target, and which faults hit which roles in which states."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.computed import computed
from fencepost.results.mining.identity import TARGET, build_of, counted, of_counted

WEIGHTS = ("broken", "not covered", "as listed", "held", "not exercised")
"""The states of a requirement in a run, the weightiest first."""
NEVER = "never exercised"


_KEY = ("rule", "target", "backend")


def rules_by_day(requirements: DataFrame, runs: DataFrame) -> DataFrame:
    """Return how each rule was judged on each build on each day.

    Columns beside date, rule, target, backend, build: the numbers of runs by state (`WEIGHTS`), weight (of the
    weightiest state, from 1), evidence_at and last_run (the newest in which it was held, as listed or broken),
    broken_at and broken_run.
    """
    key = ("date", *_KEY, "build")
    state = F.col("state")
    judged = requirements.select("date", *_KEY, build_of(TARGET).alias("build"), "run_id", "started_at", "state")
    judged = of_counted(judged, runs)
    evidence = state.isin("held", "as listed", "broken")
    rows = judged.groupBy(*key).agg(
        *(F.count(F.when(state == each, 1)).alias(each.replace(" ", "_")) for each in WEIGHTS),
        F.max(F.when(evidence, F.col("started_at"))).alias("evidence_at"),
        F.max(F.when(state == "broken", F.col("started_at"))).alias("broken_at"),
        F.min(F.array_position(F.array(*map(F.lit, WEIGHTS)), state)).alias("weight"),
    )
    rows = computed(rows)
    found = F.broadcast(_newest_runs(judged.where(evidence), rows, key))
    same = [rows[each].eqNullSafe(found[f"of_{each}"]) for each in key]
    return rows.join(found, same, "left").drop(*(f"of_{each}" for each in key))


def coverage(rules: DataFrame, runs: DataFrame, catalogue: DataFrame) -> DataFrame:
    """Return the state of each rule of the catalogue on each backend on which its target has runs.

    `rules` are those of each day, by `rules_by_day`. `catalogue` has the columns rule, says and target: a row for each
    target that owes the rule. Columns: rule, says, target, backend, state, held, as_listed, broken, not_covered, idle
    (numbers of runs), last_evidence_at, last_run and last_build (the newest run in which it was held, as listed or
    broken), broken_run (the newest in which it was broken).

    `state` is the weightiest one in the runs on the newest build that has evidence: broken, not covered, as listed,
    held. Without evidence it is `not covered` if a check was inconclusive, `idle` if all checks of it had nothing to
    judge, and `never exercised` if no run names the rule.
    """
    places = counted(runs).select("target", "backend").distinct()
    counted_states = [each.replace(" ", "_") for each in WEIGHTS]
    last = F.when(F.col("evidence_at").isNotNull(), F.struct("evidence_at", "last_run"))
    broken = F.when(F.col("broken_at").isNotNull(), F.struct("broken_at", "broken_run"))
    on_builds = rules.groupBy(*_KEY, "build").agg(
        *(F.sum(each).alias(each) for each in counted_states),
        F.max(last).alias("last"),
        F.max(broken).alias("broken_last"),
        F.min("weight").alias("weight"),
    )
    newest = F.when(F.col("last").isNotNull(), F.struct("last.evidence_at", "build", "weight", "last.last_run"))
    rows = on_builds.groupBy(*_KEY).agg(
        *(F.sum(each).alias(each) for each in counted_states),
        F.max(newest).alias("newest"),
        F.max("broken_last").alias("broken_last"),
    )
    rows = rows.select(*_KEY, *counted_states, "newest.*", "broken_last.broken_run")
    every = F.broadcast(catalogue.select("rule", "says", "target")).join(F.broadcast(places), "target")
    counts = [F.coalesce(F.col(each.replace(" ", "_")), F.lit(0)) for each in WEIGHTS]
    names = ("broken", "not_covered", "as_listed", "held", "idle")
    return every.join(rows, list(_KEY), "left").select(
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
    """Return the keys, as of_date and so on, with last_run and broken_run: the runs that began at evidence_at and
    at broken_at.

    Spark sorts all rows for an aggregate that holds text: so the times are found first, and then their runs.
    """
    at = F.explode(F.array_distinct(F.array("evidence_at", "broken_at"))).alias("at")
    places = rows.select(*(F.col(each).alias(f"of_{each}") for each in key), "evidence_at", "broken_at", at)
    same = [judged[each].eqNullSafe(places[f"of_{each}"]) for each in key]
    there = judged.join(F.broadcast(places), [*same, judged["started_at"] == places["at"]])
    last = F.col("started_at") == F.col("evidence_at")
    broken = (F.col("started_at") == F.col("broken_at")) & (F.col("state") == "broken")
    return there.groupBy(*(f"of_{each}" for each in key)).agg(
        F.max(F.when(last, F.col("run_id"))).alias("last_run"),
        F.max(F.when(broken, F.col("run_id"))).alias("broken_run"),
    )


_PLACE = ("kind", "role", "cluster_state")


def hits_by_day(faults: DataFrame, runs: DataFrame) -> DataFrame:
    """Return how often each kind of fault hit each role in each state of the cluster on each day.

    Columns: date, target, kind, role, cluster_state, runs, proven (runs in which its effect was measured), violations
    (runs), last_at.
    """
    hits = of_counted(faults.where("role is not null"), runs)
    hits = hits.withColumn("cluster_state", F.coalesce("cluster_state", F.lit("not recorded")))
    places = hits.select("target", *_PLACE).distinct()
    places = computed(places.withColumn("place", F.row_number().over(Window.orderBy("target", *_PLACE))))
    # One row for each combination and run, because a fault that hits three followers is one hit. A hash of 64 bits
    # stands for a run, as numbers are grouped faster than text: of ten million runs two have the same one in one of
    # 300,000 stores.
    of_runs = hits.join(F.broadcast(places), ["target", *_PLACE]).select(
        "date",
        "place",
        F.xxhash64("run_id").alias("run"),
        F.col("proven_s").isNotNull().alias("proven"),
        (F.col("verdict") == "violation").alias("violation"),
        "started_at",
    )
    # Nearly all rows are groups of their own, so counting each file's before they are brought together saves nothing.
    once = (
        of_runs.repartition("run")
        .groupBy("date", "place", "run")
        .agg(
            F.bool_or("proven").alias("proven"),
            F.bool_or("violation").alias("violation"),
            F.max("started_at").alias("started_at"),
        )
    )
    counts = once.groupBy("date", "place").agg(
        F.count("*").alias("runs"),
        F.count(F.when(F.col("proven"), 1)).alias("proven"),
        F.count(F.when(F.col("violation"), 1)).alias("violations"),
        F.max("started_at").alias("last_at"),
    )
    return counts.join(F.broadcast(places), "place").drop("place")


def reached(hits: DataFrame) -> DataFrame:
    """Return how often each kind of fault hit each role in each state of the cluster, also if it never did.

    `hits` are those of each day, by `hits_by_day`. Columns: target, kind, role, cluster_state, runs, proven,
    violations, last_at. The rows are all combinations of the kinds, roles and states that the target has had: a
    campaign that learns reads those with few runs.
    """
    sums = (F.sum(name).alias(name) for name in ("runs", "proven", "violations"))
    counts = computed(hits.groupBy("target", *_PLACE).agg(*sums, F.max("last_at").alias("last_at")))
    every = counts.select("target", "kind").distinct()
    for column in ("role", "cluster_state"):
        every = every.join(counts.select("target", column).distinct(), "target")
    return every.join(counts, ["target", *_PLACE], "left").na.fill(0, ["runs", "proven", "violations"])
