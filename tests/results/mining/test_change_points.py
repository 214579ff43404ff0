"""Histories that change at a known build."""

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from fencepost.results.mining.change_points import change_points, slow_downs
from fencepost.results.mining.flakiness import outcomes_by_day
from fencepost.results.mining.groups import sorted_rows
from fencepost.results.mining.identity import HARNESS, TARGET, builds_by_day
from fencepost.results.mining.times import DURATION, durations
from fencepost.results.store.tables import RUNS, TIMINGS
from tests.results.mining.frames import frame, verdicts
from tests.results.mining.frames import rows as rows_of

pytestmark = pytest.mark.integration


def history(test: str, failures: Sequence[int], runs: int = 20, **columns: Any) -> list[dict[str, Any]]:
    """Rows with so many failures of 20 runs on each build b01, b02, and so on."""
    return [
        row
        for number, each in enumerate(failures, 1)
        for row in verdicts("v" * each + "p" * (runs - each), test=test, build=f"b{number:02}", **columns)
    ]


def _changes(runs: DataFrame, sort: str) -> list[dict[str, Any]]:
    found = change_points(rows_of(outcomes_by_day(runs)), rows_of(builds_by_day(runs)), sort)
    return list(sorted_rows(found, ("test", "build_number")).to_pylist())


def _slow_downs(timings: DataFrame, runs: DataFrame) -> list[dict[str, Any]]:
    timed = durations(rows_of(timings.select(*DURATION)), pa.array([], pa.string()))
    return list(slow_downs(timed, rows_of(builds_by_day(runs))).to_pylist())


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
    found = _changes(frame(spark, RUNS, rows), TARGET)
    assert [(row["test"], row["build"], row["low_build"], row["high_build"], row["direction"]) for row in found] == [
        ("broken at 3, mended at 7", "b03", "b03", "b03", "worse"),
        ("broken at 3, mended at 7", "b07", "b07", "b07", "better"),
        ("broken at 6", "b06", "b06", "b06", "worse"),
        ("worse about 6", "b06", "b05", "b06", "worse"),
    ]
    assert [(row["rate_before"], row["rate_after"]) for row in found[:3]] == [
        (0, pytest.approx(77 / 80)),
        (pytest.approx(77 / 80), 0),
        (0, 1),
    ]
    assert (found[2]["runs_before"], found[2]["runs_after"]) == (100, 100)

    def evidence(failures: int, runs: int) -> float:
        """ln B(x + 0.1, n - x + 0.1) - ln B(0.1, 0.1) by exact gamma functions."""
        x, y = failures + 0.1, runs - failures + 0.1
        nothing = 2 * math.lgamma(0.1) - math.lgamma(0.2)
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y) - nothing

    # The prior odds of 1/5 are shared by the 9 builds after the first one.
    of_nine = math.log(0.2 / 9)
    assert found[3]["certainty"] == pytest.approx(evidence(0, 100) + evidence(25, 100) - evidence(25, 200) + of_nine)


def test_the_same_evidence_splits_a_short_history_and_not_a_long_one(spark: SparkSession) -> None:
    failures = [int(number in (21, 25, 29, 33, 37)) for number in range(40)]
    rows = [
        *history("2 builds of 20 runs", [sum(failures[:20]), sum(failures[20:])], runs=20),
        *history("40 builds of 1 run", failures, runs=1),
    ]
    rows.sort(key=lambda row: str(row["build"]))
    found = _changes(frame(spark, RUNS, rows), TARGET)
    assert [(row["test"], row["build"]) for row in found] == [("2 builds of 20 runs", "b02")]


def test_a_change_of_the_harness_is_not_taken_for_one_of_the_target(spark: SparkSession) -> None:
    rows = [
        *verdicts("p" * 30, build="b1", commit="c1"),
        *verdicts("v" * 30, build="b1", commit="c2"),
    ]
    runs = frame(spark, RUNS, rows)
    of_harness = _changes(runs, HARNESS)
    assert [(row["build"], row["rate_after"]) for row in of_harness] == [("c2", 1)]
    assert not _changes(runs, TARGET)


def test_a_slower_phase_is_a_change_and_one_outlier_is_none(spark: SparkSession) -> None:
    runs = [row | {"run_id": f"r{number}"} for number, row in enumerate(history("t", [0] * 8, runs=10))]
    timings: list[dict[str, Any]] = []
    for number, row in enumerate(runs):
        slow = row["build"] >= "b05"
        for timing, seconds in (("failover", 3.0 if slow else 2.0), ("start", 90.0 if number == 40 else 1.0)):
            timings.append({**row, "row": len(timings), "timing": timing, "seconds": seconds + number % 7 / 10})
    found = _slow_downs(frame(spark, TIMINGS, timings), frame(spark, RUNS, runs))
    assert [(row["timing"], row["build"], row["direction"]) for row in found] == [("failover", "b05", "worse")]
    assert 2.2 < found[0]["seconds_before"] < 2.4 and 3.2 < found[0]["seconds_after"] < 3.4


def test_the_certainty_of_a_slow_down_is_that_of_a_normal_model_of_ranks(spark: SparkSession) -> None:
    seconds = [1.0, 2.0, 3.0, 4.0, 4.0, 6.0, 7.0, 8.0, 9.0, 99.0, 11.0, 12.0]
    runs = [row | {"run_id": f"r{number}"} for number, row in enumerate(history("t", [0, 0], runs=6))]
    timings = [
        {**row, "row": 0, "timing": "failover", "seconds": each} for row, each in zip(runs, seconds, strict=True)
    ]
    [found] = _slow_downs(frame(spark, TIMINGS, timings), frame(spark, RUNS, runs))

    ranks = [1, 2, 3, 4.5, 4.5, 6, 7, 8, 9, 12, 10, 11]
    scores = [(rank / 13 - 0.5) * math.sqrt(12) for rank in ranks]

    def evidence(*parts: Sequence[float]) -> float:
        """ln of the likelihood of parts with means of their own; what all numbers of parts have in common left out."""
        squares = sum(each**2 for each in scores) - sum(sum(part) ** 2 / (1 + len(part)) for part in parts)
        weights = sum(math.log(1 / (1 + len(part))) for part in parts)
        return weights / 2 - (0.5 + len(scores) / 2) * math.log(0.5 + squares / 2)

    odds = evidence(scores[:6], scores[6:]) - evidence(scores) + math.log(0.03)
    assert (found["build"], found["certainty"]) == ("b02", pytest.approx(odds))
