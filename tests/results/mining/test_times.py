"""Durations whose quantiles and outliers are known."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.times import (
    DURATION,
    durations,
    latencies,
    latencies_by_day,
    outliers,
    times,
    times_by_day,
)
from fencepost.results.store.tables import LATENCIES, RUNS, TIMINGS
from tests.results.mining.frames import frame, rows

pytestmark = pytest.mark.integration


def test_a_build_has_quantiles_the_longest_run_and_the_ends_that_were_never_seen(spark: SparkSession) -> None:
    runs = [{"run_id": f"r{number}"} for number in range(101)]
    timed = [
        {"run_id": f"r{number}", "row": 0, "timing": "failover", "seconds": 1 + number / 100} for number in range(100)
    ]
    timed[99]["seconds"] = 40.0
    timed.append({"run_id": "r100", "row": 0, "timing": "failover", "seconds": None})
    tables = frame(spark, TIMINGS, timed), frame(spark, RUNS, runs)
    (row,) = times(rows(times_by_day(*tables))).to_pylist()
    assert (row["times"], row["unseen"], row["longest_s"], row["longest_run"]) == (100, 1, 40.0, "r99")
    assert row["median_s"] == pytest.approx(1.5, rel=0.19) and row["p95_s"] == pytest.approx(1.95, rel=0.19)
    timed = durations(rows(tables[0].select(*DURATION)), pa.array(["r98"]))
    assert timed.num_rows == 99
    (far,) = outliers(timed).to_pylist()
    assert (far["run_id"], far["timing"]) == ("r99", "failover") and far["times_usual"] == pytest.approx(26.8, rel=0.02)


def test_histograms_of_runs_are_added_and_have_the_quantiles_of_all_operations(spark: SparkSession) -> None:
    histograms = [
        {"run_id": run, "row": row, "operation": "produce", "outcome": "ok", "during": "quiet"}
        | {"bucket": bucket, "operations": operations, "seconds": operations * 2 ** (bucket / 4) / 1e6}
        for run in ("r0", "r1")
        for row, (bucket, operations) in enumerate([(40, 45), (44, 4), (60, 1)])
    ]
    daily = latencies_by_day(frame(spark, LATENCIES, histograms), frame(spark, RUNS, [{}, {}]))
    (row,) = latencies(rows(daily)).to_pylist()
    assert row["operations"] == 100
    assert row["p50_s"] == pytest.approx(2**10.125 / 1e6)
    assert row["p99_s"] == pytest.approx(2**15.125 / 1e6)
    assert row["mean_s"] == pytest.approx((0.9 * 2**10 + 0.08 * 2**11 + 0.02 * 2**15) / 1e6)
