"""Only a test that is flaky, and nothing else, is proposed for quarantine."""

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.flakiness import outcomes_by_day, scores
from fencepost.results.mining.identity import builds_by_day
from fencepost.results.mining.quarantine import broken, of_scenarios, proposals
from fencepost.results.store.tables import RUNS
from tests.results.mining.frames import frame, rows, verdicts

pytestmark = pytest.mark.integration


def test_a_broken_test_a_regression_and_a_find_of_chaos_are_never_proposed(spark: SparkSession) -> None:
    histories = {
        "flaky": [verdicts("ppvpppvppp" * 2, build=build) for build in ("b1", "b2", "b3")],
        "broken": [verdicts("p" * 20, build="b1"), *(verdicts("v" * 20, build=build) for build in ("b2", "b3"))],
        "flaky, then broken": [verdicts("ppvpppvppp" * 2, build="b1"), verdicts("v" * 20, build="b3")],
        "worse": [verdicts("p" * 20, build="b1"), *(verdicts("pv" * 10, build=build) for build in ("b2", "b3"))],
        "by plan": [verdicts("p" * 10, plan_hash="p1"), verdicts("v" * 10, plan_hash="p2")],
        "healthy": [verdicts("p" * 60)],
    }
    results = [{"test": test, **row} for test, parts in histories.items() for part in parts for row in part]
    results.sort(key=lambda row: str(row.get("build", "b1")))
    runs = frame(spark, RUNS, results)
    outcomes = rows(outcomes_by_day(runs))
    scored = scores(outcomes)
    found = proposals(scored, outcomes, rows(builds_by_day(runs)), runs).to_pylist()
    assert [row["test"] for row in found] == ["flaky"]
    assert found[0]["failure_rate"] == 0.2 and found[0]["failed_run"] is not None
    assert {test for test, _, _ in broken(scored)} == {"broken", "flaky, then broken"}


def test_only_scenarios_have_a_quarantine(spark: SparkSession) -> None:
    results = [
        {"test": "scenario", "source": "fencepost"},
        {"test": "random plans", "source": "fencepost", "campaign": "campaign-1"},
        {"test": "of another suite", "source": "junit"},
    ]
    assert [row["test"] for row in of_scenarios(frame(spark, RUNS, results)).collect()] == ["scenario"]
