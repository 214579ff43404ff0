"""Formulas in Spark columns beside Python's own functions and exact sums."""

import math

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from fencepost.results.mining import formulas

pytestmark = pytest.mark.integration


def values(spark: SparkSession, formula: Column, rows: list[tuple[float, ...]]) -> list[float]:
    names = "abcd"[: len(rows[0])]
    frame = spark.createDataFrame(rows, ", ".join(f"{name} double" for name in names))
    return [row["value"] for row in frame.select(formula.alias("value")).collect()]


def test_the_logarithm_of_gamma_agrees_with_pythons(spark: SparkSession) -> None:
    at = [0.5, 1.0, 1.5, 7.0, 100.5, 1e6]
    found = values(spark, formulas.log_gamma(F.col("a")), [(x,) for x in at])
    assert found == pytest.approx([math.lgamma(x) for x in at], abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("shift", [0.1, 0.2, 1.0])
def test_the_logarithm_of_gamma_of_a_count_agrees_with_pythons(spark: SparkSession, shift: float) -> None:
    at = [0, 1, 5, 999, 1_000, 1_001, 10**6]
    found = values(spark, formulas.log_gamma_of_count(F.col("a"), shift), [(float(count),) for count in at])
    assert found == pytest.approx([math.lgamma(count + shift) for count in at], abs=1e-9, rel=1e-9)


def test_the_tail_of_the_normal_distribution_is_exact_far_out(spark: SparkSession) -> None:
    at = [-3.0, 0.0, 1.0, 6.0, 25.0]
    found = values(spark, formulas.normal_tail(F.col("a")), [(x,) for x in at])
    assert found == pytest.approx([math.erfc(x / math.sqrt(2)) / 2 for x in at], rel=2e-7)


def test_fishers_tail_is_the_sum_of_the_hypergeometric_terms(spark: SparkSession) -> None:
    def exact(both: int, first: int, second: int, total: int) -> float:
        ways = (math.comb(first, k) * math.comb(total - first, second - k) for k in range(both, min(first, second) + 1))
        return sum(ways) / math.comb(total, second)

    tables = [(3, 4, 4, 8), (8, 9, 10, 20), (5, 5, 5, 1000), (400, 600, 800, 2000)]
    tail = formulas.fisher_tail(*(F.col(name) for name in "abcd"))
    found = values(spark, tail, [tuple(map(float, table)) for table in tables])
    assert found == pytest.approx([exact(*table) for table in tables], rel=1e-6)
    assert values(spark, tail, [(2.0, 4.0, 4.0, 8.0), (0.0, 0.0, 5.0, 9.0)]) == pytest.approx([1, 1])


def test_wilsons_interval_of_no_runs_is_everything(spark: SparkSession) -> None:
    low, high = formulas.wilson(F.col("a"), F.col("b"))
    assert values(spark, low, [(0.0, 0.0), (0.0, 10.0)]) == pytest.approx([0, 0])
    assert values(spark, high, [(0.0, 0.0), (10.0, 10.0)]) == pytest.approx([1, 1])
