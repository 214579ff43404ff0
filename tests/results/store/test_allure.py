"""Folders of Allure results: tests, attempts, launches, and what has to stay hidden."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fencepost.results.store.allure import read_allure
from fencepost.results.store.builds import CommitFrom, Reading
from tests.results.store.junit_files import UNTOUCHED

BEGIN = 1_795_800_000_000


def allure(folder: Path, name: str, status: str | None = "passed", start: int = 1000, **more: Any) -> None:
    value = {"uuid": name, "name": "reads", "fullName": "tests.log#reads", "status": status, "start": BEGIN + start}
    value = value | {"stop": BEGIN + start + 1500} | more
    folder.mkdir(exist_ok=True)
    shown = {key: each for key, each in value.items() if each is not None}
    (folder / f"{name}-result.json").write_text(json.dumps(shown))


def test_results_give_tests_by_full_name_and_parameters_with_attempts_in_time_order(tmp_path: Path) -> None:
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
        ("tests.log#reads", 1, "violation", 1.5),
    ]
    assert found.skipped == 1 and [path.name for path in found.unreadable] == ["e-result.json"]
    assert found.cases[0].parameters == {"seed": "7", "size": "3"} and found.cases[2].suite == "log"


def test_without_an_end_a_result_counts_and_without_a_status_it_did_not_run(tmp_path: Path) -> None:
    allure(tmp_path, "a", "broken", stop=None, statusDetails={"message": "beforeAll broke"})
    allure(tmp_path, "b", None)
    found = read_allure(tmp_path)
    [case] = found.cases
    assert (case.verdict, case.seconds, case.message) == ("violation", None, "beforeAll broke")
    assert found.skipped == 1 and found.is_whole


@pytest.mark.parametrize(("begin", "seconds"), [(None, None), (1000, 1.5)])
def test_without_a_begin_or_with_one_in_1970_the_time_of_the_file_counts_and_is_said(
    tmp_path: Path, begin: int | None, seconds: float | None
) -> None:
    allure(tmp_path, "a")
    path = tmp_path / "a-result.json"
    value = json.loads(path.read_text()) | {"start": begin, "stop": 2500}
    path.write_text(json.dumps({key: each for key, each in value.items() if each is not None}))
    os.utime(path, (UNTOUCHED.timestamp(), UNTOUCHED.timestamp()))
    found = read_allure(tmp_path)
    [case] = found.cases
    assert (case.started, case.is_dated, case.seconds, found.undated) == (UNTOUCHED, False, seconds, 1)


def test_masked_parameters_stay_masked_and_hidden_ones_hidden(tmp_path: Path) -> None:
    password = {"name": "password", "value": "open sesame", "mode": "masked"}
    hidden = {"name": "UniqueId", "value": "[engine:x]", "mode": "hidden"}
    allure(tmp_path, "a", parameters=[password, hidden])
    [case] = read_allure(tmp_path).cases
    assert case.test == "tests.log#reads[password=******]" and case.parameters == {"password": "******"}
    assert "sesame" not in repr(case) and "engine" not in repr(case)


def test_a_copied_result_counts_once(tmp_path: Path) -> None:
    allure(tmp_path, "a")
    allure(tmp_path / "copy", "a")
    found = read_allure(tmp_path)
    assert len(found.cases) == 1 and len(found.copies) == 1


def test_tests_of_one_name_that_allure_tells_apart_stay_apart(tmp_path: Path) -> None:
    allure(tmp_path, "a", "failed", historyId="1")
    allure(tmp_path, "b", "passed", 2000, historyId="2")
    allure(tmp_path, "c", "passed", 3000, historyId="1")
    found = read_allure(tmp_path)
    assert len({case.test for case in found.cases}) == 2 and len(found.files) == 1 and found.files[0].tests == 2
    assert sorted(case.attempt for case in found.cases) == [1, 1, 2]


def test_an_address_in_a_parameter_makes_no_new_test(tmp_path: Path) -> None:
    for name, address in (("a", "0x7f12ab34"), ("b", "0x7f99cd00")):
        allure(tmp_path, name, parameters=[{"name": "f", "value": f"<function f at {address}>"}])
    assert len({case.test for case in read_allure(tmp_path).cases}) == 1


def test_a_folder_that_was_never_emptied_holds_launches_and_not_attempts(tmp_path: Path) -> None:
    day = 86_400_000
    for number in range(3):
        allure(tmp_path, f"f{number}", "failed", number * day)
        allure(tmp_path, f"p{number}", "passed", number * day + 2000)
    allure(tmp_path, "again", "passed", 2 * day + 4000)
    found = read_allure(tmp_path)
    assert [case.attempt for case in found.cases] == [1, 2] * 3 + [1]
    assert [case.attempts for case in found.cases] == [2] * 6 + [1]
    assert len({case.report for case in found.cases}) == 3


def test_errors_outside_of_tests_and_the_adapter_are_said(tmp_path: Path) -> None:
    allure(tmp_path, "a", labels=[{"name": "framework", "value": "vitest"}])
    (tmp_path / "x-globals.json").write_text(json.dumps({"errors": [{"message": "no port"}]}))
    [file] = read_allure(tmp_path).files
    assert file.runner == "allure-vitest" and "retries" in file.lost[0] and "no port" in file.notes[0]


def test_the_commit_is_in_a_label_or_in_the_path(tmp_path: Path) -> None:
    allure(tmp_path / "1a2b", "a", labels=[{"name": "sha", "value": "3c4d"}])
    commits = {
        where: read_allure(tmp_path, Reading(commit_from=CommitFrom.parse(where))).cases[0].build.commit
        for where in ("property:sha", "path:[0-9a-f]{4}")
    }
    assert commits == {"property:sha": "3c4d", "path:[0-9a-f]{4}": "1a2b"}


def test_a_test_of_fencepost_keeps_its_verdict_also_in_quarantine(tmp_path: Path) -> None:
    own = "fencepost.{}: it was said\nreport   x"
    for name, status, message in (
        ("a", "broken", own.format("Infrastructure")),
        ("b", "broken", own.format("Inconclusive")),
        ("c", "failed", own.format("Violation")),
        ("d", "skipped", "XFAIL known\n\n" + own.format("Violation")),
        ("e", "skipped", "Skipped: inconclusive: no fault was proven"),
        ("f", "skipped", "Skipped: no disks"),
    ):
        allure(tmp_path, name, status, fullName=name, statusDetails={"message": message})
    found = read_allure(tmp_path)
    read_back = {case.test: case.verdict for case in found.cases}
    assert read_back == {
        "a": "infrastructure",
        "b": "inconclusive",
        "c": "violation",
        "d": "violation",
        "e": "inconclusive",
    }
    assert found.skipped == 1


@pytest.mark.parametrize(("children", "verdict"), [(["a"], "violation"), (["a", "b"], "pass")])
def test_a_test_that_passed_and_whose_own_hook_failed_is_no_pass(
    tmp_path: Path, children: list[str], verdict: str
) -> None:
    for name in children:
        allure(tmp_path, name, fullName=name)
    hook = {"name": "afterEach", "status": "broken", "statusDetails": {"message": "the socket was still open"}}
    container = {"uuid": "c", "children": children, "befores": [], "afters": [hook]}
    (tmp_path / "c-container.json").write_text(json.dumps(container))
    found = read_allure(tmp_path)
    assert {case.verdict for case in found.cases} == {verdict}
    assert {case.message for case in found.cases} == {"the socket was still open" if len(children) == 1 else ""}
