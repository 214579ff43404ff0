"""The facts about each test beside its scores, on small frames."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from pyspark.sql import SparkSession

from fencepost.results.mining.per_test import (
    ATTENTION_S,
    USED,
    Runs,
    costs,
    newest_runs,
    signatures_by_test,
    times_by_test,
    verdicts_by_build,
)
from fencepost.results.mining.signatures import failures_by_day
from fencepost.results.store.tables import FAULTS, FINDINGS, RUNS, TIMINGS
from tests.results.mining.frames import START, attempts, frame, rows, verdicts


def runs_of(spark: SparkSession, runs: Sequence[Mapping[str, Any]]) -> Runs:
    return Runs(rows(frame(spark, RUNS, runs).select(*USED)))


def test_only_red_runs_of_the_last_week_cost(spark: SparkSession) -> None:
    runs = [
        {"verdict": "violation", "started_at": START, "duration_s": 5.0, "run_id": "old", "build": "b0"},
        {"verdict": "violation", "started_at": START + timedelta(days=9), "duration_s": 10.0, "build": "b1"},
        {"verdict": "inconclusive", "started_at": START + timedelta(days=9, hours=1), "duration_s": 20.0},
        {"verdict": "pass", "started_at": START + timedelta(days=9, hours=2), "duration_s": 40.0},
        {"verdict": "violation", "started_at": START + timedelta(days=9), "duration_s": 9.0, "left_out": "planted"},
    ]
    [row] = costs(runs_of(spark, runs), START + timedelta(days=10)).to_pylist()
    assert (row["week_runs"], row["week_red"], row["week_s"]) == (3, 2, 70.0)
    assert row["cost_s"] == 30.0 + 2 * ATTENTION_S
    assert (row["first_failed_build"], row["last_failed_build"]) == ("b0", "b1")
    assert (row["passes_since"], row["last_verdict"]) == (1, "pass")
    assert row["failure"]["run_id"] == "r1"


def test_a_retried_pass_is_no_red_run_and_costs_its_failed_attempts(spark: SparkSession) -> None:
    runs = [*attempts("vp", duration_s=5.0), *attempts("vvv", duration_s=7.0), *attempts("p", duration_s=2.0)]
    of = runs_of(spark, runs)
    [row] = costs(of, START + timedelta(days=1)).to_pylist()
    assert (row["week_runs"], row["week_red"], row["week_retried"]) == (3, 1, 1)
    assert row["cost_s"] == 5.0 + 3 * 7.0 + ATTENTION_S
    [build] = verdicts_by_build(of, 2).to_pylist()
    assert (build["pass"], build["violation"], build["retried"]) == (2, 1, 1)
    assert {
        (run["attempt"], run["attempts"]) for run in newest_runs(of, 9).to_pylist() if run["verdict"] == "pass"
    } == {
        (2, 2),
        (1, None),
    }


def test_a_test_that_never_failed_cost_nothing(spark: SparkSession) -> None:
    [row] = costs(runs_of(spark, verdicts("ppp", duration_s=1.0)), START + timedelta(days=1)).to_pylist()
    assert (row["cost_s"], row["week_red"], row["failure"], row["first_failed_at"]) == (0.0, 0, None, None)


def test_the_newest_builds_have_their_verdicts(spark: SparkSession) -> None:
    runs = [row for build in ("b1", "b2", "b3") for row in verdicts("pvv", build=build, duration_s=2.0)]
    found = verdicts_by_build(runs_of(spark, runs), 2).to_pylist()
    assert sorted((row["build"], row["pass"], row["violation"], row["median_s"]) for row in found) == [
        ("b2", 1, 2, 2.0),
        ("b3", 1, 2, 2.0),
    ]


def test_the_newest_runs_of_both_sorts_are_kept(spark: SparkSession) -> None:
    found = newest_runs(runs_of(spark, verdicts("vvvppp")), 2).to_pylist()
    assert {row["run_id"] for row in found} == {"r1", "r2", "r4", "r5"}


def test_kinds_of_failures_are_counted_by_run(spark: SparkSession) -> None:
    runs = frame(spark, RUNS, [*verdicts("vvvv"), {"left_out": "planted defect", "verdict": "violation"}])
    shown = [("r0", "a"), ("r0", "a"), ("r1", "a"), ("r2", "b"), ("r3", "c"), ("r4", "a")]
    findings = [
        {"run_id": run, "row": row, "signature": of, "finding": "violation", "message": f"{of} in {run}", "check": "c"}
        for row, (run, of) in enumerate(shown)
    ]
    failures = failures_by_day(frame(spark, FINDINGS, findings), frame(spark, FAULTS, []), runs)
    found = signatures_by_test(rows(failures), 2).to_pylist()
    assert {(row["signature"], row["failures"], row["message"]) for row in found} == {
        ("a", 2, "a in r1"),
        ("b", 1, "b in r2"),
    }


def test_steps_are_no_times_of_a_test_and_an_end_that_was_not_seen_is_counted(spark: SparkSession) -> None:
    timings = [
        {"run_id": "r0", "row": 0, "timing": "failover", "fault_kind": "kill", "seconds": 2.0},
        {"run_id": "r1", "row": 0, "timing": "failover", "fault_kind": "kill", "seconds": 4.0},
        {"run_id": "r2", "row": 0, "timing": "failover", "fault_kind": "kill", "seconds": None},
        {"run_id": "r0", "row": 1, "timing": "step", "seconds": 9.0},
    ]
    [row] = times_by_test(rows(frame(spark, TIMINGS, timings))).to_pylist()
    assert (row["timing"], row["times"], row["unseen"], row["longest_s"], row["longest_run"]) == (
        "failover",
        3,
        1,
        4.0,
        "r1",
    )
