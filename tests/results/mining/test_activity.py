"""The activity of each day, on small frames."""

from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.activity import basis, days, newest_failures, sums_by_day, verdicts_by_day
from fencepost.results.store.tables import RUNS
from tests.results.mining.frames import START, attempts, frame, verdicts
from tests.results.mining.test_per_test import runs_of

pytestmark = pytest.mark.integration
NEXT = {"started_at": START + timedelta(days=1)}


def test_a_day_has_the_sums_of_its_runs_and_attempts(spark: SparkSession) -> None:
    rows = [
        *attempts("vp", duration_s=5.0, build="b1"),
        *verdicts("vi", duration_s=7.0, build=None),
        {"verdict": "pass", "duration_s": 0.0, "duration_unknown": True, "build": "b2"},
        {"verdict": "violation", "duration_s": 9.0, "left_out": "planted defect", "build": "b3"},
        {"verdict": "pass", "duration_s": 3.0, "build": "b2", "target": "zk", **NEXT},
    ]
    sums = [row.asDict() for row in sums_by_day(frame(spark, RUNS, rows)).collect()]
    later, row = days(sums)
    assert (f"{row['date']}", row["builds"], row["unknown"], row["attempts"]) == ("2026-11-02", 2, 2, 5)
    assert (row["pass"], row["violation"], row["infrastructure"], row["retried"]) == (2, 1, 1, 1)
    assert (row["seconds"], row["lost_s"], row["timed"], row["timed_s"]) == (24.0, 19.0, 1, 5.0)
    assert (later["target"], later["pass"], later["violation"]) == ("zk", 1, 0)
    assert sorted((each["target"], each["builds"]) for each in basis(sums)) == [("quorum", 2), ("zk", 1)]


def test_the_newest_days_of_each_test_have_their_verdicts(spark: SparkSession) -> None:
    rows = [
        row | {"started_at": START + timedelta(days=day)}
        for day in range(3)
        for row in (*verdicts("pp", duration_s=2.0 + day), *attempts("vp", duration_s=2.0 + day))
    ]
    found = sorted(verdicts_by_day(runs_of(spark, rows), 2).to_pylist(), key=lambda row: row["date"])
    assert [(row["date"].day, row["pass"], row["retried"], row["median_s"]) for row in found] == [
        (3, 3, 1, 3.0),
        (4, 3, 1, 4.0),
    ]


def test_each_build_or_day_has_its_newest_failure(spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = [
        {"verdict": "violation", "build": "b1", "run_id": "old"},
        {"verdict": "violation", "build": "b1", "run_id": "newer"},
        {"verdict": "pass", "build": "b1", "run_id": "passed"},
        {"verdict": "violation", "build": "b2", "run_id": "planted", "left_out": "planted defect"},
        {"verdict": "violation", "build": None, "run_id": "day-1", "headline": "It was lost."},
        {"verdict": "violation", "build": None, "run_id": "day-2", **NEXT},
    ]
    runs = runs_of(spark, rows)
    found = {row["run_id"]: row for row in newest_failures(runs, 9).to_pylist()}
    assert set(found) == {"newer", "day-1", "day-2"}
    assert found["day-1"]["headline"] == "It was lost."
    assert {row["run_id"] for row in newest_failures(runs, 1).to_pylist()} == {"day-2"}
