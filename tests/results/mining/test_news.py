"""Why a test is named, since when it is as it is, and how its failure is repeated."""

from pathlib import Path
from typing import Any

import pytest

from fencepost.results.mining.news import Kind, Since, hours, items
from tests.results.mining.facts_of import change, facts, kind, of_test

LAST_WEEK, BEFORE = "2026-11-20T00:00:00+00:00", "2026-11-05T00:00:00+00:00"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, Kind.KNOWN),
        ({"first_failed_at": LAST_WEEK}, Kind.NEW),
        ({"change": change("worse", LAST_WEEK)}, Kind.NEW),
        ({"change": change("worse", BEFORE)}, Kind.KNOWN),
        ({"change": change("better", LAST_WEEK, rates=(1.0, 0.0))}, Kind.FIXED),
        ({"change": change("better", LAST_WEEK, rates=(1.0, 0.4))}, Kind.KNOWN),
        ({"state": "healthy"}, Kind.ONCE),
        ({"last_failed_at": BEFORE}, None),
        ({"last_failed_at": None, "first_failed_at": None}, None),
        ({"last_failed_at": BEFORE, "change": change("better", BEFORE, rates=(1.0, 0.0))}, None),
    ],
)
def test_a_test_is_named_for_what_happened_in_the_last_week(columns: dict[str, Any], expected: Kind | None) -> None:
    found = items(facts(of_test("cut", **columns)))
    assert [each for each, tests in found.items() if tests] == ([expected] if expected else [])


def test_since_when_has_the_interval_unless_it_is_one_build() -> None:
    assert str(Since.of(change("worse", BEFORE))) == "worse since build-08 (build-07 to build-08), 0% → 50%"
    assert str(Since.of(change("better", BEFORE, "build-08", "build-08"))) == "better since build-08, 0% → 50%"


def test_a_test_without_a_change_has_the_build_of_its_first_failure() -> None:
    [item] = items(facts(of_test("cut")))[Kind.KNOWN]
    assert item.since_words == "first failed 2026-11-01 on build-01"


def test_the_newest_kind_of_failure_is_its_cause() -> None:
    old = kind("cut", "old") | {"last_seen_at": "2026-11-02T00:00:00+00:00"}
    found = items(facts(of_test("cut"), signatures_by_test=[old, kind("cut", "new"), kind("other", "not its own")]))
    [item] = found[Kind.KNOWN]
    assert item.cause is not None
    assert item.cause["message"] == "new"


def test_a_failure_is_replayed_from_its_folder_or_else_from_its_plan_in_the_store(tmp_path: Path) -> None:
    known = {"run_id": "r", "plan_hash": "sha256:ab", "ci_url": None}
    rows = (
        of_test("here", failure=known | {"folder": str(tmp_path)}),
        of_test("gone away", failure=known | {"folder": str(tmp_path / "gone")}),
        of_test("imported", failure=known | {"folder": None, "plan_hash": None}),
    )
    assert [item.replay for item in items(facts(*rows))[Kind.KNOWN]] == [
        f"fencepost replay {tmp_path}",
        "fencepost show 'gone away' --store store --target quorum --save-plan plan.yaml && fencepost replay plan.yaml",
        None,
    ]


@pytest.mark.parametrize(
    ("seconds", "words"), [(99, "99 s"), (720, "12 min"), (12_240, "3.4 h"), (4_320_000, "1,200 h")]
)
def test_a_duration_has_few_digits(seconds: float, words: str) -> None:
    assert hours(seconds) == words
