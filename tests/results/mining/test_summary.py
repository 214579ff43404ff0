"""The trends as text, Markdown and JSON: the same tests in all of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fencepost.results.mining.facts import Facts
from fencepost.results.mining.show import as_text
from fencepost.results.mining.summary import as_json, markdown, text
from tests.results.mining.facts_of import change, facts, kind, of_test

LAST_WEEK = "2026-11-20T00:00:00+00:00"


@pytest.fixture
def found() -> Facts:
    return facts(
        of_test("cut", change=change("worse", LAST_WEEK)),
        of_test("pause"),
        of_test("kill"),
        of_test("mended", change=change("better", LAST_WEEK, rates=(1.0, 0.0))),
        of_test("quiet", last_failed_at=None, violations=0),
        signatures_by_test=[kind("cut", "5 records | [gone] *here*")],
        attribution=[
            {
                "causes": ["fault:cut", "fault:pause"],
                "independent": 1,
                "rank": 1,
                "failures": 9,
                "runs": 10,
                "rate_with": 0.9,
                "rate_without": 0.1,
            },
            {"causes": ["fault:cut"], "independent": None, "rank": 2},
        ],
        slow_downs=[
            {
                "test": "cut",
                "target": "quorum",
                "backend": "process",
                "timing": "failover",
                "build": "build-08",
                "direction": "worse",
                "seconds_before": 1.5,
                "seconds_after": 3.0,
            }
        ],
    )


@pytest.mark.parametrize("form", [text, markdown])
def test_news_known_fixed_since_when_causes_and_slow_downs_are_reported(
    found: Facts, form: Callable[[Facts, int], str]
) -> None:
    said = form(found, 10)
    for part in (
        "New failures (1)",
        "Known failures (2)",
        "Fixed (1)",
        "worse since build-08 (build-07 to build-08), 0% → 50%",
        "better since build-08",
        "50% (30% to 70%; 10 of 20 runs)",
        "fencepost show cut --store store --target quorum --save-plan plan.yaml && fencepost replay plan.yaml",
        "fault:cut with fault:pause: 9 of 10 runs failed (90%, without it 10%)",
        "cut on quorum: failover 1.50 → 3.00 s since build-08",
        "3 not counted: planted defect",
    ):
        assert part in said
    assert "quiet" not in said
    assert said.count("fault:cut") == 1


def test_only_the_first_of_each_kind_are_printed_and_the_others_counted(found: Facts) -> None:
    said = text(found, 1)
    assert "pause on quorum" in said
    assert "kill on quorum" not in said
    assert "and 1 more" in said
    assert "and 1 more" in markdown(found, 1)


def test_a_message_cannot_break_the_table_of_markdown(found: Facts) -> None:
    [row] = [line for line in markdown(found, 10).splitlines() if line.startswith("| `cut`")]
    assert r"5 records \| \[gone\] \*here\*" in row
    assert row.replace(r"\|", "").count("|") == 6


def test_the_json_has_what_the_text_has(found: Facts) -> None:
    said = json.loads(json.dumps(as_json(found, 10)))
    [cut] = said["new"]
    assert cut["since"]["build"] == "build-08"
    assert cut["since"]["interval_99"] == ["build-07", "build-08"]
    assert cut["rule"] == "ACK-01"
    assert said["counts"] == {"new": 1, "known": 2, "fixed": 1, "once": 0}
    assert [each["test"] for each in said["slower"]] == ["cut"]


def test_without_a_failure_that_is_said() -> None:
    quiet = facts(of_test("quiet", last_failed_at=None))
    assert "No test failed in the last week." in text(quiet, 10)
    assert "No test failed in the last week." in markdown(quiet, 10)


def test_one_test_is_shown_with_its_builds_kinds_of_failures_and_runs(found: Facts) -> None:
    key = {"test": "cut", "target": "quorum", "backend": "process"}
    build = {"build": "build-08", "first_run_at": LAST_WEEK, "pass": 5, "violation": 3, "retried": 2}
    run: dict[str, Any] = {
        "started_at": LAST_WEEK,
        "verdict": "violation",
        "folder": "/runs/r",
        "ci_url": None,
        "run_id": "r",
    }
    run |= {"attempt": 1, "attempts": 3}
    found.tests[1:] = []
    found.rows["verdicts_by_build"] = [key | build | {"infrastructure": 0, "inconclusive": 0}]
    found.rows["newest_runs"] = [key | run]
    said = as_text(found)
    for part in (
        "cut on quorum, process: flaky",
        "It became worse with build-08 (99 %: build-07 to build-08) on 2026-11-20: 0% → 50%.",
        "5 pass, 3 violation (2 on retry)",
        "10 × ACK-01: 5 records | [gone] *here*",
        "failover: 1.50 → 3.00 s since build-08",
        "violation      /runs/r (attempt 1 of 3)",
        "replay: fencepost show cut",
    ):
        assert part in said


def test_passes_on_retry_are_said_beside_runs_and_are_not_red() -> None:
    retried = {"retried_passes": 6, "attempts": 26, "failed_attempts": 16, "attempt_failure_rate": 16 / 26}
    found = facts(of_test("cut", week_red=0, week_retried=3, **retried))
    found.totals["attempts"] += 6
    assert "22 runs and 6 attempts before them of 1 tests" in text(found, 10)
    for said in (text(found, 10), markdown(found, 10), as_text(found)):
        assert "6 passed on retry; 62% of attempts failed" in said
    assert "0 of 8 runs red this week, 3 passed on retry" in text(found, 10)
    assert "0 of 8 runs were red and 3 passed on retry" in as_text(found)


def test_a_week_of_old_results_is_said_in_all_forms() -> None:
    found = replace(facts(of_test("cut")), no_run_since="2026-09-27T10:00:00+00:00")
    for said in (text(found, 10), markdown(found, 10)):
        assert "no run since 2026-09-27, so the last week is the one before it" in said
    assert as_json(found, 10)["no_run_since"] == "2026-09-27T10:00:00+00:00"
