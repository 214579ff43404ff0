"""Which rules were judged on which target, and which faults hit which roles in which states."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import product
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.computed import computed
from fencepost.results.mining.groups import Groups, keyed, numbers
from fencepost.results.mining.identity import TARGET, build_of, of_counted

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


def words_by_day(requirements: DataFrame) -> DataFrame:
    """Return the words of each rule on each day: date, rule, target, says and started_at (of the newest run)."""
    return requirements.groupBy("date", "rule", "target", "says").agg(F.max("started_at").alias("started_at"))


ExpectedRule = tuple[str, str, str]
"""The id of a rule, the rule in words, and a target that owes it."""


def coverage(rules: pa.Table, words: pa.Table, expected: Iterable[ExpectedRule], costs: pa.Table) -> pa.Table:
    """Return the state of each rule of the catalogue on each backend on which its target has runs.

    `rules`, `words` and `costs` are those of each day, by `rules_by_day`, `words_by_day` and `per_test.costs_by_day`.
    The catalogue has `expected` rules, and all that runs name. Columns: rule, says, target, backend, state, held,
    as_listed, broken, not_covered, idle (numbers of runs), last_evidence_at, last_run and last_build (the newest run in
    which it was held, as listed or broken), broken_run (the newest in which it was broken).

    `state` is the weightiest one in the runs on the newest build that has evidence: broken, not covered, as listed,
    held. Without evidence it is `not covered` if a check was inconclusive, `idle` if all checks of it had nothing to
    judge, and `never exercised` if no run names the rule.
    """
    _, counted = keyed(costs.filter(costs["is_counted"]), ("target", "backend"))
    places = sorted({(row["target"], row["backend"]) for row in counted.to_pylist()})
    judged: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rules.to_pylist():
        judged[tuple(row[name] for name in _KEY)].append(row)
    found = [
        {"rule": rule, "says": says, "target": target, "backend": backend, **_judged(judged[rule, target, backend])}
        for (rule, target), says in sorted(_catalogue(words, expected).items())
        for where, backend in places
        if where == target
    ]
    return pa.Table.from_pylist(found, _COVERAGE)


Row = dict[str, Any]
_COUNTS: Final = {each.replace(" ", "_"): each for each in WEIGHTS}
_COVERAGE: Final = pa.schema(
    {
        **dict.fromkeys(("rule", "says", *_KEY[1:], "state"), pa.string()),
        **dict.fromkeys(("broken", "not_covered", "as_listed", "held", "idle"), pa.int64()),
        "last_evidence_at": pa.timestamp("us", "UTC"),
        **dict.fromkeys(("last_run", "last_build", "broken_run"), pa.string()),
    }
)


def _catalogue(words: pa.Table, expected: Iterable[ExpectedRule]) -> dict[tuple[str, str], str | None]:
    """Return the words of each rule that a target owes, by rule and target."""
    newest: dict[tuple[str, str], tuple[datetime, str]] = {}
    for row in words.to_pylist():
        key, says = (row["rule"], row["target"]), (row["started_at"], row["says"] or "")
        newest[key] = max(newest.get(key, says), says)
    found = {key: says or None for key, (_, says) in newest.items()}
    for rule, owed, target in expected:
        found[rule, target] = max(found.get((rule, target)) or owed, owed)
    return found


def _judged(days: list[Row]) -> Row:
    """Return what the days say of one rule on one target and backend."""
    counts = {name: sum(row[name] for row in days) for name in _COUNTS}
    evident = [row for row in days if row["evidence_at"] is not None]
    broken = max(((row["broken_at"], row["broken_run"]) for row in days if row["broken_at"] is not None), default=None)
    last = max(((row["evidence_at"], row["build"] or "", row["last_run"]) for row in evident), default=None)
    if last is not None:
        on_build = [row["weight"] for row in days if (row["build"] or "") == last[1]]
        state = WEIGHTS[min(on_build) - 1]
    else:
        state = "not covered" if counts["not_covered"] else "idle" if counts["not_exercised"] else NEVER
    return {
        **{name: counts[name] for name in ("broken", "not_covered", "as_listed", "held")},
        "idle": counts["not_exercised"],
        "state": state,
        "last_evidence_at": last and last[0],
        "last_run": last and last[2],
        "last_build": last and (last[1] or None),
        "broken_run": broken and broken[1],
    }


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


def reached(hits: pa.Table) -> pa.Table:
    """Return how often each kind of fault hit each role in each state of the cluster, also if it never did.

    `hits` are those of each day, by `hits_by_day`. Columns: target, kind, role, cluster_state, runs, proven,
    violations, last_at. The rows are all combinations of the kinds, roles and states that the target has had: a
    campaign that learns reads those with few runs.
    """
    key, keys = keyed(hits, ("target", *_PLACE))
    sums = [np.bincount(key, numbers(hits, name), keys.num_rows).astype(np.int64) for name in _HITS]
    last_at = hits["last_at"].take(Groups.sorted_by(1, key, numbers(hits, "last_at")).last(np.arange(len(key))))
    counted_hits = zip(*(each.tolist() for each in sums), last_at.to_pylist(), strict=True)
    there = dict(zip((tuple(row.values()) for row in keys.to_pylist()), counted_hits, strict=True))
    found = []
    for target in sorted({place[0] for place in there}):
        of_target = [place for place in there if place[0] == target]
        every = product([target], *(sorted({each[at] for each in of_target}) for at in (1, 2, 3)))
        found += [(*place, *there.get(place, (0, 0, 0, None))) for place in every]
    return pa.table([*(list(each) for each in zip(*found, strict=True))] if found else [[]] * 8, schema=_REACHED)


_HITS: Final = ("runs", "proven", "violations")
_REACHED: Final = pa.schema(
    {
        **dict.fromkeys(("target", *_PLACE), pa.string()),
        **dict.fromkeys(_HITS, pa.int64()),
        "last_at": pa.timestamp("us", "UTC"),
    }
)
