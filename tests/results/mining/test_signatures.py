"""Failures of several runs, of which some are of one kind."""

from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.signatures import failures_by_day, signatures
from fencepost.results.store.masking import masked_signature
from fencepost.results.store.tables import FAULTS, FINDINGS, RUNS
from tests.results.mining.frames import START, frame, rows

pytestmark = pytest.mark.integration


def signature_of(kind: str) -> str:
    return masked_signature("lost-write", "ACK-01", f"masked {kind}")


def failure(run: str, kind: str, **columns: Any) -> dict[str, Any]:
    known = {"row": 0, "masking": 1, "finding": "violation", "check": "lost-write", "rule": "ACK-01"}
    of_kind = {"signature": signature_of(kind), "masked": f"masked {kind}"}
    return {**known, "run_id": run, **of_kind, "message": run, **columns}


def test_failures_of_one_rule_message_and_state_are_one_row_with_the_shortest_plan(spark: SparkSession) -> None:
    days = [0, 1, 2, 9, 10]
    runs = [
        {
            "run_id": f"r{number}",
            "started_at": START + timedelta(days=day),
            "test": "a" if number < 3 else "b",
            "plan_steps": [9, 4, 4, 7, 7][number],
            "plan_hash": f"p{number}",
            "build": f"b{number}",
            "verdict": "violation",
        }
        for number, day in enumerate(days)
    ]
    runs.append({"run_id": "mutant", "left_out": "planted defect", "plan_steps": 1})
    began = {row["run_id"]: {name: row[name] for name in ("started_at", "test", "build")} for row in runs[:5]}
    findings = [
        *(failure(f"r{number}", "s1", at_s=5.0, **began[f"r{number}"]) for number in range(3)),
        failure("r0", "s1", at_s=3.0, row=1, **began["r0"]),
        failure("r2", "s2", part_of="lost-write", row=1, **began["r2"]),
        failure("r2", "s3", finding="inconclusive", row=2, **began["r2"]),
        failure("r3", "s1", at_s=0.5, **began["r3"]),
        failure("r4", "s4", **began["r4"]),
        failure("mutant", "s1"),
    ]
    faults = [
        {"run_id": run, "verdict": "violation", "row": row, "fault": kind, "kind": kind}
        | {"ordered_s": at, "cluster_state": state}
        for run in ("r0", "r1", "r2", "r3", "r4")
        for row, (kind, at, state) in enumerate([("cut", 1.0, "settled"), ("kill", 2.0, "ISR of t-0 shrunk")])
    ]
    tables = frame(spark, FINDINGS, findings), frame(spark, FAULTS, faults), frame(spark, RUNS, runs)
    found = signatures(rows(failures_by_day(*tables)), START + timedelta(days=12)).to_pylist()
    shrunk = "ISR of t-0 shrunk"
    assert [(row["signature"], row["state"], row["failures"], row["new"]) for row in found] == [
        (signature_of("s1"), shrunk, 3, False),
        (signature_of("s1"), "no fault", 1, True),
        (signature_of("s4"), shrunk, 1, True),
    ]
    most = found[0]
    assert (most["plan_run"], most["plan_hash"], most["plan_steps"]) == ("r1", "p1", 4)
    assert (most["first_build"], most["last_build"], most["last_run"], most["message"]) == ("b0", "b2", "r2", "r2")
    assert (most["tests"], most["test_count"], most["faults"], most["targets"]) == (["a"], 1, ["kill"], ["quorum"])
    assert found[1]["faults"] is None


def test_one_message_of_several_imported_tests_is_one_kind_and_none_is_a_kind_of_its_test(spark: SparkSession) -> None:
    runs, findings = [], []
    for number, (test, masked) in enumerate([("a", "refused"), ("b", "refused"), ("a", ""), ("b", "")]):
        of_run = {"run_id": f"r{number}", "test": test, "verdict": "violation"}
        runs.append(of_run | {"plan_hash": None})
        stored = {"signature": masked_signature("failure", test, masked), "masked": masked, "rule": None}
        findings.append(failure(f"r{number}", "", **of_run) | stored | {"check": "failure"})
    tables = frame(spark, FINDINGS, findings), frame(spark, FAULTS, []), frame(spark, RUNS, runs)
    found = signatures(rows(failures_by_day(*tables)), START).to_pylist()
    assert sorted((row["masked"], row["tests"]) for row in found) == [("", ["a"]), ("", ["b"]), ("refused", ["a", "b"])]
