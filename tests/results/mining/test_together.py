"""Tests that fail for one cause, and tests that fail at the same time by chance."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from fencepost.results.mining.together import failing_together, occasions_by_day
from fencepost.results.store.tables import RUNS
from tests.results.mining.frames import frame
from tests.results.mining.frames import rows as rows_of

pytestmark = pytest.mark.integration


def failing_together_of(runs: DataFrame) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = failing_together(rows_of(occasions_by_day(runs))).to_pylist()
    return found


def test_tests_with_a_common_cause_are_one_group_and_frequent_failures_are_none(spark: SparkSession) -> None:
    rng = random.Random(3)
    rows = []
    for job in range(60):
        slow_machine, full_disk = rng.random() < 0.2, rng.random() < 0.2
        fails = {
            "a": slow_machine,
            "b": slow_machine and rng.random() < 0.95,
            "c": slow_machine and rng.random() < 0.95,
            "d": full_disk,
            "e": full_disk,
            "often": rng.random() < 0.8,
            "oftener": rng.random() < 0.85,
            "never": False,
        }
        for test, failed in fails.items():
            verdict = "violation" if failed else "pass"
            rows.append({"test": test, "verdict": verdict, "ci_url": f"job/{job}", "run_id": f"{test}-{job}"})
    found = failing_together_of(frame(spark, RUNS, rows))
    pairs = {(row["first"][0], row["second"][0]): row["group"][0] for row in found}
    assert pairs == {("a", "b"): "a", ("a", "c"): "a", ("b", "c"): "a", ("d", "e"): "d"}
    assert max(row["similarity"] for row in found) == 1
    assert all(row["together"] <= min(row["first_failures"], row["second_failures"]) for row in found)


def test_chance_among_many_pairs_is_no_common_cause(spark: SparkSession) -> None:
    """Two tests failed in the same 3 of 40 jobs: by chance 4 times in 9,880, and 200 tests make 19,900 pairs."""
    rng = random.Random(5)
    failures = {"one": {1, 2, 3}, "two": {1, 2, 3, 4}}
    pair = [*_failed(failures)]
    alone = failing_together_of(frame(spark, RUNS, [*pair, *_passed(40)]))
    assert [(row["first"], row["second"]) for row in alone] == [("one on process", "two on process")]
    many = failures | {f"t{number:03}": set(rng.sample(range(40), 5)) for number in range(198)}
    found = failing_together_of(frame(spark, RUNS, [*_failed(many), *_passed(40)]))
    assert found == []


def _failed(jobs: Mapping[str, set[int]]) -> list[dict[str, Any]]:
    return [
        {"test": test, "verdict": "violation", "ci_url": f"job/{job}", "run_id": f"{test}-{job}"}
        for test, each in jobs.items()
        for job in sorted(each)
    ]


def _passed(jobs: int) -> list[dict[str, Any]]:
    return [{"test": "steady", "ci_url": f"job/{job}", "run_id": f"steady-{job}"} for job in range(jobs)]


def test_a_build_that_breaks_many_tests_is_one_group_with_few_pairs(spark: SparkSession) -> None:
    """As many pairs as tests, not their square; 63 occasions fit into one number, so there are more."""
    rows = [
        {"test": f"t{test:02}", "verdict": "violation" if job > 60 else "pass", "ci_url": f"job/{job:03}"}
        for test in range(12)
        for job in range(130)
    ]
    found = failing_together_of(frame(spark, RUNS, rows))
    pairs = [(int(row["first"][1:3]), int(row["second"][1:3])) for row in found]
    first_five = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    assert sorted(pairs) == sorted([*first_five, *((0, b) for b in range(5, 12))])
    assert {(row["group"], row["together"], row["similarity"]) for row in found} == {("t00 on process", 69, 1.0)}
