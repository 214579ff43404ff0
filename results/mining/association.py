"""Tests of association between a feature of runs and their failure, stratified, and corrected for their number."""

from collections.abc import Sequence
from functools import cache

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from fencepost.results.mining.formulas import fisher_tail, let, normal_tail


def associated(counts: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Return for each key how much more often runs fail with it than without it.

    `counts` has a row for each key and stratum: with_n and with_x (runs with the key, and failures of them), all_n and
    all_x (of all runs of the stratum). Columns beside the keys: runs, failures (with the key), strata, rate_with,
    rate_without, lift, odds_ratio, z, exact, p_value.

    Only strata count in which some runs have the key and some have not, and some failed and some passed: no other one
    can say anything. Keys without such a stratum have no row.

    - rate_without: the failures that the runs with the key would have had at the rates of the other runs of their
      strata, per run. lift: rate_with / rate_without, null if that is 0.
    - odds_ratio: that of Mantel and Haenszel over all strata; null if no other run failed.
    - p_value: one-sided. With one stratum it is that of Fisher's exact test, and `exact` is true. With several it is
      that of Cochran, Mantel and Haenszel with a continuity correction; z is its normal score.

    Source: N. Mantel and W. Haenszel, Statistical aspects of the analysis of data from retrospective studies, 1959.
    """
    n1, x1, n, x = (F.col(name) for name in ("with_n", "with_x", "all_n", "all_x"))
    other_n, other_x = n - n1, x - x1
    size = n.cast("double")
    telling = counts.where((n1 > 0) & (n1 < n) & (x > 0) & (x < n))
    table = F.struct("with_n", "with_x", "all_n", "all_x")
    sums = telling.groupBy(*keys).agg(
        F.sum(n1).alias("runs"),
        F.sum(x1).alias("failures"),
        F.count("*").alias("strata"),
        F.sum(n1 * other_x / other_n).alias("elsewhere"),
        F.sum(n1 * x / size).alias("expected"),
        F.sum(n1 * other_n / size * x * (n - x) / size / (size - 1)).alias("variance"),
        F.sum(x1 * (other_n - other_x) / size).alias("odds_with"),
        F.sum((n1 - x1) * other_x / size).alias("odds_without"),
        F.first(table).alias("table"),
    )
    return sums.select(*keys, *_scores())


@cache
def _scores() -> tuple[Column, ...]:
    """Return the scores of `associated` from its sums. Python makes them by thousands of calls to the JVM, so once."""
    runs, failures, elsewhere = F.col("runs"), F.col("failures"), F.col("elsewhere")
    exact = F.col("strata") == 1
    fisher = fisher_tail(*(F.col(f"table.{name}") for name in ("with_x", "with_n", "all_x", "all_n")))
    z = (failures - F.col("expected") - 0.5) / F.sqrt("variance")
    return (
        runs,
        failures,
        F.col("strata"),
        (failures / runs).alias("rate_with"),
        (elsewhere / runs).alias("rate_without"),
        F.when(elsewhere > 0, failures / elsewhere).alias("lift"),
        F.when(F.col("odds_without") > 0, F.col("odds_with") / F.col("odds_without")).alias("odds_ratio"),
        z.alias("z"),
        exact.alias("exact"),
        F.when(exact, fisher).otherwise(let(z, normal_tail)).alias("p_value"),
    )


def with_false_discovery_rate(
    tested: DataFrame, by: Sequence[str] = (), number: Column | None = None, weight: Column | None = None
) -> DataFrame:
    """Add `q_value`: the least false discovery rate at which a row is a discovery, among all rows of the same `by`.

    It is the minimum of p m / rank over this and all higher ranks. m is the `number` of hypotheses, if `tested` has
    only those that were chosen for what they show; else that of the rows. A row stands for `weight` hypotheses, or one.
    Source: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, 1995.
    """
    family = Window.partitionBy(*(by or (F.lit(0),)))
    hypotheses = F.count("*") if weight is None else F.sum(weight)
    rank = hypotheses.over(family.orderBy("p_value"))
    m = hypotheses.over(family) if number is None else number
    scaled = tested.withColumn("q_value", F.col("p_value") * m / rank)
    # From the highest down: Spark computes a window that begins at the current row anew for each row.
    higher = family.orderBy(F.desc("p_value"))
    return scaled.withColumn("q_value", F.least(F.min("q_value").over(higher), F.lit(1.0)))
