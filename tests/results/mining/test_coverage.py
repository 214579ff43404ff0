"""Rules that were held, broken, idle and never judged."""

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.coverage import coverage, hits_by_day, reached, rules_by_day, words_by_day
from fencepost.results.mining.per_test import costs_by_day
from fencepost.results.store.tables import FAULTS, REQUIREMENTS, RUNS
from tests.results.mining.frames import frame, rows

pytestmark = pytest.mark.integration


def test_each_row_of_the_catalogue_has_a_state_on_each_target_that_ran(spark: SparkSession) -> None:
    runs = [
        {"run_id": "r0", "build": "b1"},
        {"run_id": "r1", "build": "b2"},
        {"run_id": "r2", "build": "b2"},
        {"run_id": "other", "target": "zk-controller"},
        {"run_id": "mutant", "left_out": "planted defect"},
    ]
    states = [
        ("r0", "ACK-01", "broken"),
        ("r1", "ACK-01", "held"),
        ("r2", "ACK-01", "not exercised"),
        ("r1", "ISR-01", "broken"),
        ("r2", "ISR-01", "held"),
        ("r1", "HW-01", "as listed"),
        ("r0", "SEG-01", "not exercised"),
        ("r0", "CLK-01", "not covered"),
        ("mutant", "DIR-01", "broken"),
    ]
    builds = {row["run_id"]: row.get("build", "b1") for row in runs}
    judged = [
        {"run_id": run, "build": builds[run], "rule": rule, "state": state, "checks": 1, "row": 0}
        for run, rule, state in states
    ]
    names = ["ACK-01", "ISR-01", "HW-01", "SEG-01", "CLK-01", "DIR-01"]
    owed = [(name, "quorum") for name in names] + [("ACK-01", "zk-controller"), ("ACK-01", "without-runs")]
    ran, requirements = frame(spark, RUNS, runs), frame(spark, REQUIREMENTS, judged)
    rules, words = rows(rules_by_day(requirements, ran)), rows(words_by_day(requirements))
    expected = [(rule, f"{rule} says", target) for rule, target in owed]
    found = coverage(rules, words, expected, rows(costs_by_day(ran))).to_pylist()
    states_of = {(row["rule"], row["target"]): row for row in found}
    assert {rule: states_of[rule, "quorum"]["state"] for rule in names} == {
        "ACK-01": "held",
        "ISR-01": "broken",
        "HW-01": "as listed",
        "SEG-01": "idle",
        "CLK-01": "not covered",
        "DIR-01": "never exercised",
    }
    others = {key: row["state"] for key, row in states_of.items() if key[1] != "quorum"}
    assert others == {("ACK-01", "zk-controller"): "never exercised"}
    assert states_of["ACK-01", "quorum"]["says"] == "ACK-01 says"
    mended = states_of["ACK-01", "quorum"]
    assert (mended["broken"], mended["held"], mended["idle"]) == (1, 1, 1)
    assert (mended["last_run"], mended["last_build"], mended["broken_run"]) == ("r1", "b2", "r0")


def test_a_combination_that_no_run_reached_is_a_row_with_zero(spark: SparkSession) -> None:
    hits = [
        ("r0", "pause", "leader", "settled", 2.0),
        ("r0", "pause", "leader", "settled", None),
        ("r1", "pause", "leader", "settled", None),
        ("r1", "kill", "follower", "ISR of t-0 shrunk", 2.0),
    ]
    faults = [
        {"run_id": run, "row": row, "kind": kind, "role": role, "cluster_state": state, "proven_s": proven}
        for row, (run, kind, role, state, proven) in enumerate(hits)
    ]
    found = reached(rows(hits_by_day(frame(spark, FAULTS, faults), frame(spark, RUNS, [{}, {}])))).to_pylist()
    counts = {(row["kind"], row["role"], row["cluster_state"]): (row["runs"], row["proven"]) for row in found}
    assert len(counts) == 8
    assert counts["pause", "leader", "settled"] == (2, 1)
    assert counts["kill", "follower", "ISR of t-0 shrunk"] == (1, 1)
    assert counts["kill", "leader", "settled"] == (0, 0)
