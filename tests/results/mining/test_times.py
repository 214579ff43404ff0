"""Durations whose quantiles and outliers are known."""

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.times import latencies, latencies_by_day, outliers, times, times_by_day
from fencepost.results.store.tables import LATENCIES, RUNS, TIMINGS
from tests.results.mining.frames import frame

pytestmark = pytest.mark.integration


def test_a_build_has_quantiles_the_longest_run_and_the_ends_that_were_never_seen(spark: SparkSession) -> None:
    runs = [{"run_id": f"r{number}"} for number in range(101)]
    timed = [
        {"run_id": f"r{number}", "row": 0, "timing": "failover", "seconds": 1 + number / 100} for number in range(100)
    ]
    timed[99]["seconds"] = 40.0
    timed.append({"run_id": "r100", "row": 0, "timing": "failover", "seconds": None})
    tables = frame(spark, TIMINGS, timed), frame(spark, RUNS, runs)
    (row,) = times(times_by_day(*tables)).collect()
    assert (row["times"], row["unseen"], row["longest_s"], row["longest_run"]) == (100, 1, 40.0, "r99")
    assert row["median_s"] == pytest.approx(1.5, rel=0.19) and row["p95_s"] == pytest.approx(1.95, rel=0.19)
    (far,) = outliers(*tables).collect()
    assert (far["run_id"], far["timing"]) == ("r99", "failover") and far["times_usual"] == pytest.approx(26.8, rel=0.02)


def test_histograms_of_runs_are_added_and_have_the_quantiles_of_all_operations(spark: SparkSession) -> None:
    rows = [
        {"run_id": run, "row": row, "operation": "produce", "outcome": "ok", "during": "quiet"}
        | {"bucket": bucket, "operations": operations, "seconds": operations * 2 ** (bucket / 4) / 1e6}
        for run in ("r0", "r1")
        for row, (bucket, operations) in enumerate([(40, 45), (44, 4), (60, 1)])
    ]
    (row,) = latencies(latencies_by_day(frame(spark, LATENCIES, rows), frame(spark, RUNS, [{}, {}]))).collect()
    assert row["operations"] == 100
    assert row["p50_s"] == pytest.approx(2**10.125 / 1e6)
    assert row["p99_s"] == pytest.approx(2**15.125 / 1e6)
    assert row["mean_s"] == pytest.approx((0.9 * 2**10 + 0.08 * 2**11 + 0.02 * 2**15) / 1e6)
