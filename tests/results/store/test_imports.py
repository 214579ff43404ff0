"""Results of other suites become runs with an identity, attempts, verdicts and messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fencepost.results.store.imports import Origin, read_allure, read_junit, rows_of
from fencepost.results.store.store import Store
from fencepost.results.store.tables import FINDINGS, RUNS

JUNIT = """<?xml version="1.0"?>
<testsuites>
  <testsuite name="broker" timestamp="2026-05-01T10:00:00" tests="5">
    <testcase classname="org.acme.LogTest" name="appends" time="1.5"/>
    <testcase classname="org.acme.LogTest" name="truncates" time="0.5">
      <failure type="AssertionError" message="expected 5 but was 17">at LogTest.java:12</failure>
    </testcase>
    <testcase classname="org.acme.LogTest" name="starts" time="1,000.5">
      <error>no port\nBindException: 9092</error>
    </testcase>
    <testcase classname="org.acme.LogTest" name="skips"><skipped/></testcase>
    <testcase classname="org.acme.LogTest" name="flaky" time="2"><flakyFailure message="timed out"/></testcase>
  </testsuite>
</testsuites>
"""


def test_a_junit_file_gives_tests_with_verdicts_and_attempts(tmp_path: Path) -> None:
    (tmp_path / "TEST-log.xml").write_text(JUNIT)
    found = read_junit(tmp_path)
    assert {(case.test, case.attempt): (case.verdict, case.message) for case in found.cases} == {
        ("org.acme.LogTest::appends", 1): ("pass", ""),
        ("org.acme.LogTest::truncates", 1): ("violation", "expected 5 but was 17"),
        ("org.acme.LogTest::starts", 1): ("infrastructure", "BindException: 9092"),
        ("org.acme.LogTest::flaky", 1): ("violation", "timed out"),
        ("org.acme.LogTest::flaky", 2): ("pass", ""),
    }
    assert found.skipped == 1
    assert {case.seconds for case in found.cases if "starts" in case.test} == {1000.5}
    assert {case.suite for case in found.cases} == {"broker"}
    assert {case.started.isoformat() for case in found.cases} == {"2026-05-01T10:00:00+00:00"}


def test_files_that_are_no_junit_results_are_named(tmp_path: Path) -> None:
    (tmp_path / "torn.xml").write_text(JUNIT[:300])
    (tmp_path / "pom.xml").write_text("<project/>")
    (tmp_path / "good.xml").write_text(JUNIT)
    found = read_junit(tmp_path)
    assert {path.name for path in found.unreadable} == {"torn.xml", "pom.xml"}
    assert len(found.cases) == 5


def allure(folder: Path, name: str, status: str = "passed", start: int = 1000, **more: Any) -> None:
    value = {"uuid": name, "name": "reads", "fullName": "tests.log#reads", "status": status, "start": start}
    (folder / f"{name}-result.json").write_text(json.dumps(value | {"stop": start + 1500} | more))


def test_allure_results_give_tests_by_full_name_and_parameters_with_attempts_in_time_order(tmp_path: Path) -> None:
    seed, size = {"name": "seed", "value": "7", "excluded": True}, {"name": "size", "value": "3"}
    allure(tmp_path, "b", "failed", 1000, statusDetails={"message": "5 lost"}, parameters=[seed, size])
    allure(tmp_path, "a", "passed", 9000, parameters=[{**seed, "value": "8"}, size])
    allure(tmp_path, "c", "broken", labels=[{"name": "suite", "value": "log"}])
    allure(tmp_path, "d", "skipped")
    (tmp_path / "e-result.json").write_text("{")
    found = read_allure(tmp_path)
    assert [(case.test, case.attempt, case.verdict, case.seconds) for case in found.cases] == [
        ("tests.log#reads[size=3]", 1, "violation", 1.5),
        ("tests.log#reads[size=3]", 2, "pass", 1.5),
        ("tests.log#reads", 1, "infrastructure", 1.5),
    ]
    assert found.skipped == 1 and [path.name for path in found.unreadable] == ["e-result.json"]
    assert found.cases[0].parameters == {"seed": "7", "size": "3"} and found.cases[2].suite == "log"


def test_importing_twice_adds_nothing_and_another_job_adds_its_own(tmp_path: Path) -> None:
    (tmp_path / "TEST-log.xml").write_text(JUNIT)
    store = Store.create(str(tmp_path / "store"))

    def publish(origin: Origin) -> int:
        return store.add(rows_of(read_junit(tmp_path / "TEST-log.xml"), "junit", origin)).get("runs", 0)

    job = Origin(target="acme", commit="1a2b", branch="main", ci_job="unit", ci_url="https://ci/1")
    assert [publish(job), publish(job), publish(Origin(target="acme", commit="1a2b", ci_url="https://ci/2"))] == [
        5,
        0,
        5,
    ]
    [row] = [row for row in store.read(RUNS).to_pylist() if row["ci_job"] == "unit" and "truncates" in row["test"]]
    assert (row["target"], row["build"], row["commit"], row["branch"]) == ("acme", "1a2b", "1a2b", "main")
    findings = store.read(FINDINGS).to_pylist()
    assert {row["masked"] for row in findings if "truncates" in row["test"]} == {"expected <n> but was <n>"}
    assert len({row["signature"] for row in findings if "truncates" in row["test"]}) == 1
