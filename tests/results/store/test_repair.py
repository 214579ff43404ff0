"""Rows and runs that a store has twice are taken out, and nothing else is."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import write_deltalake

from fencepost.results.store.check import check
from fencepost.results.store.repair import repair
from fencepost.results.store.store import Store
from fencepost.results.store.tables import FINDINGS, RUNS
from tests.results.store.stores import NOW, finding, run

UUID_FILE = "0b6bb1f7-5d5a-4d8f-a8b1-5e5f4a0d1c11-result.json"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(str(tmp_path / "store"))


def repaired(store: Store) -> dict[str, int]:
    return {each.table: each.rows for each in repair(store)}


def problems(store: Store) -> dict[str, tuple[str, ...]]:
    return {state.table: state.problems for state in check(store) if state.problems}


def test_rows_of_one_key_become_one(store: Store) -> None:
    store.add({"runs": [run("a"), run("b", 2)], "findings": [finding("a"), finding("b", 2)]})
    for table in (RUNS, FINDINGS):
        write_deltalake(store.at(table), store.read(table), mode="append")
    assert "2 rows have the key of another row" in problems(store)["runs"][0]
    assert repaired(store) == {"runs": 2, "findings": 2}
    assert problems(store) == {} and repaired(store) == {}
    assert sorted(store.read(RUNS)["run_id"].to_pylist()) == ["a", "b"]


def test_a_run_on_two_days_stays_on_the_day_that_was_published_first(store: Store) -> None:
    for days_ago, later in ((5, 0), (2, 1)):
        published = NOW + timedelta(hours=later)
        store.add({"runs": [run("a", days_ago, published_at=published)], "findings": [finding("a", days_ago)]})
    store.add({"runs": [run("b", 2)]})
    assert "1 runs are there a second time, for example a" in problems(store)["runs"][0]
    assert repaired(store) == {"runs": 1, "findings": 1}
    first = (NOW - timedelta(days=5)).date()
    assert {(row["run_id"], row["date"] == first) for row in store.read(RUNS).to_pylist()} == {
        ("a", True),
        ("b", False),
    }
    assert store.read(FINDINGS)["date"].to_pylist() == [first]
    assert problems(store) == {}


def imported(name: str, commit: str, source: str, file: str, **more: Any) -> dict[str, Any]:
    published = NOW + timedelta(hours=commit == "bbb")
    return run(name, build=commit, commit=commit, source=source, run=file, published_at=published, **more)


def test_a_result_of_allure_under_two_commits_stays_under_the_first(store: Store) -> None:
    store.add({"runs": [imported("first", "aaa", "allure", UUID_FILE), imported("again", "bbb", "allure", UUID_FILE)]})
    store.add(
        {
            "runs": [
                imported("other", "bbb", "allure", "x-result.json"),
                imported("more", "aaa", "allure", "x-result.json"),
            ]
        }
    )
    assert repaired(store) == {"runs": 1}
    assert set(store.read(RUNS)["run_id"].to_pylist()) == {"first", "other", "more"}


def test_an_equal_report_of_junit_under_two_commits_stays_under_the_first(store: Store) -> None:
    for commit in ("aaa", "bbb"):
        tests = [imported(f"{commit}-{test}", commit, "junit", "TEST-a.xml", test=test) for test in "tu"]
        store.add({"runs": tests})
    assert repaired(store) == {"runs": 2}
    assert set(store.read(RUNS)["run_id"].to_pylist()) == {"aaa-t", "aaa-u"}


@pytest.mark.parametrize(
    "differs",
    [
        {"verdict": "violation"},
        {"duration_s": 1.25},
        {"test": "v"},
        {"report": "0123456789abcdef"},
        {"target": "other"},
    ],
    ids=str,
)
def test_reports_that_differ_in_one_execution_both_stay(store: Store, differs: dict[str, Any]) -> None:
    first = [imported(f"aaa-{test}", "aaa", "junit", "TEST-a.xml", test=test) for test in "tu"]
    second = [imported(f"bbb-{test}", "bbb", "junit", "TEST-a.xml", test=test) for test in "tu"]
    store.add({"runs": [*first, second[0], second[1] | differs]})
    assert repaired(store) == {}


def test_equal_reports_without_any_duration_both_stay(store: Store) -> None:
    for commit in ("aaa", "bbb"):
        store.add({"runs": [imported(commit, commit, "junit", "TEST-a.xml", duration_s=0.0)]})
    assert repaired(store) == {}
