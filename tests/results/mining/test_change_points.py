"""Histories that change at a known build."""

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.change_points import change_points, slow_downs
from fencepost.results.mining.identity import HARNESS, TARGET
from fencepost.results.store.tables import RUNS, TIMINGS
from tests.results.mining.frames import frame, verdicts

pytestmark = pytest.mark.integration


def history(test: str, failures: Sequence[int], runs: int = 20, **columns: Any) -> list[dict[str, Any]]:
    """Rows with so many failures of 20 runs on each build b01, b02, and so on."""
    return [
        row
        for number, each in enumerate(failures, 1)
        for row in verdicts("v" * each + "p" * (runs - each), test=test, build=f"b{number:02}", **columns)
    ]


def test_the_breaking_build_is_named_with_its_interval(spark: SparkSession) -> None:
    rows = [
        *history("healthy", [0] * 10),
        *history("flaky", [5, 3, 4, 6, 4, 2, 5, 6, 4, 3]),
        *history("broken at 6", [0] * 5 + [20] * 5),
        *history("worse about 6", [0, 0, 0, 0, 0, 3, 6, 5, 4, 7]),
        *history("broken at 3, mended at 7", [0, 0, 18, 20, 19, 20, 0, 0, 0, 0]),
    ]
    # All tests run on the first build before any runs on the next one.
    rows.sort(key=lambda row: str(row["build"]))
    found = change_points(frame(spark, RUNS, rows), TARGET).orderBy("test", "build_number").collect()
    assert [(row["test"], row["build"], row["low_build"], row["high_build"], row["direction"]) for row in found] == [
        ("broken at 3, mended at 7", "b03", "b03", "b03", "worse"),
        ("broken at 3, mended at 7", "b07", "b07", "b07", "better"),
        ("broken at 6", "b06", "b06", "b06", "worse"),
        ("worse about 6", "b06", "b05", "b07", "worse"),
    ]
    assert [(row["rate_before"], row["rate_after"]) for row in found[:3]] == [
        (0, pytest.approx(77 / 80)),
        (pytest.approx(77 / 80), 0),
        (0, 1),
    ]
    assert (found[2]["runs_before"], found[2]["runs_after"]) == (100, 100)


def test_a_change_of_the_harness_is_not_taken_for_one_of_the_target(spark: SparkSession) -> None:
    rows = [
        *verdicts("p" * 30, build="b1", commit="c1"),
        *verdicts("i" * 30, build="b1", commit="c2"),
    ]
    runs = frame(spark, RUNS, rows)
    of_harness = change_points(runs, HARNESS, verdict="infrastructure").collect()
    assert [(row["build"], row["rate_after"]) for row in of_harness] == [("c2", 1)]
    assert change_points(runs, TARGET, verdict="infrastructure").isEmpty()


def test_a_slower_phase_is_a_change_and_one_outlier_is_none(spark: SparkSession) -> None:
    runs = [row | {"run_id": f"r{number}"} for number, row in enumerate(history("t", [0] * 8, runs=10))]
    timings: list[dict[str, Any]] = []
    for number, row in enumerate(runs):
        slow = row["build"] >= "b05"
        for timing, seconds in (("failover", 3.0 if slow else 2.0), ("start", 90.0 if number == 40 else 1.0)):
            timings.append({**row, "row": len(timings), "timing": timing, "seconds": seconds + number % 7 / 10})
    found = slow_downs(frame(spark, TIMINGS, timings), frame(spark, RUNS, runs), TARGET).collect()
    assert [(row["timing"], row["build"], row["direction"]) for row in found] == [("failover", "b05", "worse")]
    assert 2.2 < found[0]["seconds_before"] < 2.4 and 3.2 < found[0]["seconds_after"] < 3.4
