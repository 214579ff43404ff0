"""Results of other suites become rows of the store, each once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fencepost.results.store.allure import read_allure
from fencepost.results.store.builds import CommitFrom, Reading
from fencepost.results.store.check import check
from fencepost.results.store.imports import Origin, add_new
from fencepost.results.store.junit import read_junit
from fencepost.results.store.store import Rows, Store
from fencepost.results.store.tables import FINDINGS, RUNS

JUNIT = """<?xml version="1.0"?>
<testsuites>
  <testsuite name="org.acme" timestamp="2026-05-01T10:00:00Z" tests="5">
    <testcase classname="org.acme.LogTest" name="appends" time="1.5"/>
    <testcase classname="org.acme.LogTest" name="truncates" time="0.5">
      <failure type="AssertionError" message="expected 5 but was 17">at LogTest.java:12</failure>
    </testcase>
    <testcase classname="org.acme.LogTest" name="starts" time="oops"><error>BindException: 9092</error></testcase>
    <testcase classname="org.acme.LogTest" name="skips"><skipped/></testcase>
    <testcase classname="org.acme.LogTest" name="flaky" time="2"><flakyFailure message="timed out"/></testcase>
  </testsuite>
</testsuites>
"""
UNDATED = (
    '<testsuite name="t"><testcase classname="t" name="fails" time="0.1"><failure message="no"/></testcase></testsuite>'
)


def add(store: Store, folder: Path, origin: Origin, reading: Reading = Reading()) -> int:  # noqa: B008
    return add_new(read_junit(folder, reading), "junit", origin, store)


def test_files_that_are_no_junit_results_are_named(tmp_path: Path) -> None:
    (tmp_path / "torn.xml").write_text(JUNIT[:300])
    (tmp_path / "pom.xml").write_text("<project/>")
    (tmp_path / "good.xml").write_text(JUNIT)
    found = read_junit(tmp_path)
    assert {path.name for path in found.unreadable} == {"torn.xml", "pom.xml"}
    assert len(found.cases) == 5 and not found.is_whole


def test_a_report_is_added_once_whatever_its_commit_and_job(tmp_path: Path) -> None:
    (tmp_path / "TEST-log.xml").write_text(JUNIT)
    store = Store.create(str(tmp_path / "store"))
    job = Origin(target="acme", commit="1a2b", branch="main", ci_job="unit", ci_url="https://ci/1")
    later = Origin(target="acme", commit="3c4d", ci_url="https://ci/2")
    assert [add(store, tmp_path / "TEST-log.xml", each) for each in (job, job, later)] == [5, 0, 0]
    rows = {(row["test"], row["attempt"]): row for row in store.read(RUNS).to_pylist()}
    row = rows["org.acme.LogTest::truncates", 1]
    assert (row["target"], row["build"], row["commit"], row["branch"]) == ("acme", "1a2b", "1a2b", "main")
    assert (row["headline"], row["duration_s"], row["duration_unknown"]) == ("expected 5 but was 17", 0.5, None)
    assert rows["org.acme.LogTest::starts", 1]["verdict"] == "violation"
    starts = rows["org.acme.LogTest::starts", 1]
    assert (starts["duration_s"], starts["duration_unknown"]) == (0.0, True)
    assert len({row["report"] for row in rows.values()}) == 1
    findings = store.read(FINDINGS).to_pylist()
    assert {row["masked"] for row in findings if "truncates" in row["test"]} == {"expected <n> but was <n>"}


def test_a_file_without_times_is_added_once_whatever_its_own_time(tmp_path: Path) -> None:
    path = tmp_path / "TEST-a.xml"
    path.write_text(UNDATED)
    store = Store.create(str(tmp_path / "store"))
    added = []
    for day in (1, 40):
        os.utime(path, (day * 86_400 + 1_700_000_000,) * 2)
        added.append(add(store, path, Origin()))
    assert added == [1, 0] and not any(state.problems for state in check(store))


def test_importers_of_copies_with_other_times_at_once_add_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = [tmp_path / name / "TEST-a.xml" for name in ("one", "two")]
    for day, copy in enumerate(copies, start=1):
        copy.parent.mkdir()
        copy.write_text(UNDATED)
        os.utime(copy, (day * 86_400 + 1_700_000_000,) * 2)
    store = Store.create(str(tmp_path / "store"))
    added: list[int] = []
    real = Store.add

    def overtaken(self: Store, rows: Rows, *, on_any_day: bool = False) -> dict[str, int]:
        if rows.get("runs") and not added:
            added.append(0)  # the other importer begins here: the store has nothing yet
            added[0] = add(Store(store.address), copies[1], Origin())
        return real(self, rows, on_any_day=on_any_day)

    monkeypatch.setattr(Store, "add", overtaken)
    assert [add(store, copies[0], Origin()), *added] == [0, 1]
    assert [state.rows for state in check(store) if state.rows] == [1, 1]
    assert not any(state.problems for state in check(store))


def test_results_of_allure_that_an_earlier_job_left_are_no_new_runs(tmp_path: Path) -> None:
    result = {"uuid": "a", "name": "reads", "status": "passed", "start": 1_795_800_000_000, "stop": 1_795_800_001_000}
    (tmp_path / "a-result.json").write_text(json.dumps(result))
    store = Store.create(str(tmp_path / "store"))
    origins = [Origin(commit=commit) for commit in ("aaa", "bbb")]
    assert [add_new(read_allure(tmp_path), "allure", each, store) for each in origins] == [1, 0]


def test_copies_do_no_damage(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "r.xml").write_text(JUNIT)
    store = Store.create(str(tmp_path / "store"))
    (tmp_path / "reports").mkdir()
    for name in ("a", "b"):
        (tmp_path / name).rename(tmp_path / "reports" / name)
    assert add(store, tmp_path / "reports", Origin()) == 5
    assert not any(state.problems for state in check(store))


def test_the_commit_of_the_job_counts_unless_reports_have_theirs(tmp_path: Path) -> None:
    for name, text in (("1a2b", JUNIT), ("other", UNDATED)):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "r.xml").write_text(text)
    found = read_junit(tmp_path / "runs", Reading(commit_from=CommitFrom.parse("path:^([0-9a-f]{4})/")))
    of_job = Origin(ci_commit="9f9f")
    assert {of_job.of(case.build).build for case in found.cases} == {"1a2b", "9f9f"}
    in_reports = Origin(ci_commit="9f9f", in_reports=True)
    assert {in_reports.of(case.build).build for case in found.cases} == {"1a2b", None}
