"""Scores of tests whose histories have known answers."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.flakiness import flakiness, halts, outcomes_by_day
from fencepost.results.store.tables import RUNS
from tests.results.mining.frames import attempts, frame, rows, verdicts

pytestmark = pytest.mark.integration

HISTORIES = {
    "healthy": verdicts("p" * 50),
    "flaky": verdicts("pppvppvppp" * 5),
    "broken since build 4": [
        *(row for build in "123" for row in verdicts("p" * 12, build=build)),
        *verdicts("v" * 12, build="4"),
    ],
    "mended at build 4": [
        *(row for build in "123" for row in verdicts("v" * 12, build=build)),
        *verdicts("p" * 24, build="4"),
    ],
    "three runs": verdicts("ppp"),
    "by plan": [row for plan in "abcd" for row in verdicts("pp" if plan in "ab" else "vv", plan_hash=plan)],
    "by chance": [row for plan in "abcd" for row in verdicts("pv", plan_hash=plan)],
    "halted": verdicts("piupiv"),
    "left out": verdicts("v", left_out="planted defect"),
    **{
        f"unknown builds, {name}": verdicts(text, build=None, plan_hash=None)
        for name, text in (("mended", "vvvvpppp"), ("worse", "ppppvvvv"), ("always failing", "v" * 40))
    },
    "unknown builds, retried": [
        row for number in range(20) for row in verdicts("vp", build=None, plan_hash=None, report=f"report {number}")
    ],
    "attempts": [
        *(row for _ in range(6) for row in attempts("vp")),
        *attempts("vvv"),
        *(row for _ in range(3) for row in attempts("p")),
    ],
}


@pytest.fixture(scope="module")
def scores(spark: SparkSession) -> dict[str, dict[str, Any]]:
    runs = frame(spark, RUNS, ({"test": test, **row} for test, each in HISTORIES.items() for row in each))
    return {row["test"]: row for row in flakiness(rows(outcomes_by_day(runs)), runs).to_pylist()}


def test_each_state_is_named_and_three_passes_are_not_enough(scores: dict[str, dict[str, Any]]) -> None:
    named = {test: scores[test]["state"] for test in list(HISTORIES)[:7]}
    assert named == {
        "healthy": "healthy",
        "flaky": "flaky",
        "broken since build 4": "broken",
        "mended at build 4": "healthy",
        "three runs": "unsure",
        "by plan": "by plan",
        "by chance": "flaky",
    }
    assert all(row["healthy"] + row["flaky"] + row["broken"] == pytest.approx(1) for row in scores.values())


def test_rate_interval_flips_and_entropy_have_the_values_of_their_formulas(scores: dict[str, dict[str, Any]]) -> None:
    flaky, broken = scores["flaky"], scores["broken since build 4"]
    assert (flaky["runs"], flaky["violations"], flaky["failure_rate"]) == (50, 10, 0.2)
    assert (flaky["rate_low"], flaky["rate_high"]) == pytest.approx((0.1124, 0.3304), abs=1e-4)
    assert flaky["flip_rate"] == pytest.approx(20 / 49)
    assert flaky["entropy"] == pytest.approx(0.7219, abs=1e-4)
    assert broken["flip_rate"] == pytest.approx(1 / 47)
    assert broken["entropy"] == 0


def test_one_plan_with_two_verdicts_is_kept_apart_from_two_plans_with_one_each(
    scores: dict[str, dict[str, Any]],
) -> None:
    chaos, chance = scores["by plan"], scores["by chance"]
    assert (chaos["same_plan"], chaos["other_plan"], chaos["unstable_plans"]) == (0, pytest.approx(16 / 24), 0)
    assert (chance["same_plan"], chance["other_plan"], chance["unstable_plans"]) == (1, pytest.approx(0.5), 4)
    assert (chaos["failed_run"], chance["plan_decides"]) == (None, 0)
    assert chaos["plan_decides"] == pytest.approx(1 / (1 + 0.5**4))
    assert {chance["passed_run"], chance["failed_run"]} <= {f"r{number}" for number in range(400)}


def test_runs_of_unknown_builds_are_not_of_one_build(scores: dict[str, dict[str, Any]]) -> None:
    named = {test.partition(", ")[2]: row for test, row in scores.items() if test.startswith("unknown")}
    for name in ("mended", "worse"):
        assert (named[name]["unstable_plans"], named[name]["passed_run"]) == (0, None)
        assert named[name]["same_plan"] is None and named[name]["unknown_builds"] == 8
    assert named["worse"]["state"] != "flaky" and named["worse"]["broken"] > named["mended"]["broken"] == 0
    assert named["always failing"]["state"] == "broken"
    retried = named["retried"]
    assert (retried["state"], retried["unstable_plans"], retried["same_plan"]) == ("flaky", 20, 1)


def test_a_run_without_proof_is_counted_and_is_no_flip(scores: dict[str, dict[str, Any]]) -> None:
    halted = scores["halted"]
    assert (halted["runs"], halted["infrastructure"], halted["inconclusive"]) == (6, 2, 1)
    assert halted["flip_rate"] == pytest.approx(1 / 2)
    assert "left out" not in scores


def test_runs_without_proof_have_a_trend_of_their_own(spark: SparkSession) -> None:
    found = halts(rows(outcomes_by_day(frame(spark, RUNS, verdicts("piupiv"))))).to_pylist()
    assert [(str(row["period"]), row["runs"], row["infrastructure"], row["inconclusive_rate"]) for row in found] == [
        ("2026-11-02", 6, 2, pytest.approx(1 / 6))
    ]
    assert (found[0]["infrastructure_low"], found[0]["infrastructure_high"]) == pytest.approx((0.0968, 0.7), abs=1e-3)


def test_attempts_are_one_run_and_all_of_them_show_that_a_test_is_flaky(scores: dict[str, dict[str, Any]]) -> None:
    row = scores["attempts"]
    assert (row["runs"], row["passes"], row["violations"], row["retried_passes"]) == (10, 9, 1, 6)
    assert (row["attempts"], row["failed_attempts"]) == (18, 9)
    assert (row["failure_rate"], row["attempt_failure_rate"], row["state"]) == (0.1, 0.5, "flaky")
