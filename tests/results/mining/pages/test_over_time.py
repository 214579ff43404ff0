"""Figures of the last week and charts over days."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from fencepost.results.mining.facts import Row
from fencepost.results.mining.pages.over_time import charts, last_week
from tests.results.mining.facts_of import facts


def day(number: int, **sums: float) -> Row:
    """Return the sums of the day so long before the newest one."""
    known: Row = {"builds": 1, "unknown": 0, "pass": 8, "violation": 2, "infrastructure": 0, "inconclusive": 0}
    known |= {"retried": 1, "attempts": 11, "seconds": 7200.0, "lost_s": 1800.0, "timed": 8, "timed_s": 16.0}
    at = date(2026, 11, 23) - timedelta(days=number)
    return {"target": "quorum", "date": f"{at}"} | known | sums


def test_the_last_week_has_seven_days_and_its_cost_counts_persons() -> None:
    found = last_week(facts(days=[day(0), day(6, inconclusive=1), day(7, **{"pass": 18}), day(14)]))
    assert found is not None
    assert (found["runs"], found["red"], found["retried"]) == (21, 5, 2)
    assert (found["rate"], found["before"]) == (0.8, 0.9)
    assert (found["lost_s"], found["attention_s"], found["cost_s"]) == (3600.0, 3000, 6600.0)


def test_a_week_without_one_before_it_has_nothing_to_compare() -> None:
    found = last_week(facts(days=[day(0)]))
    assert found is not None
    assert found["before"] is None
    assert last_week(facts()) is None


def test_days_become_points_and_many_days_weeks() -> None:
    rate, spent, lasted = charts(facts(days=[day(1, **{"pass": 0, "timed": 0, "timed_s": 0.0}), day(0)]))
    assert list(rate.lines["rate"]) == [0.0, 0.8]
    assert rate.tips[1] == "2026-11-23: 80% of 10 runs passed, 2 failed, 1 passed on retry"
    assert (list(spent.bars["lost"]), list(spent.bars["passed"])) == ([0.5, 0.5], [1.5, 1.5])
    assert list(lasted.lines["duration"]) == [None, 2.0]
    assert (rate.first, rate.last) == ("2026-11-22", "2026-11-23")
    [weekly, *_] = charts(facts(days=[day(number) for number in range(200)]))
    assert 28 <= len(weekly.tips) <= 30
    assert weekly.last == "week of 2026-11-23"


@pytest.mark.parametrize("days", [[], [day(0)]])
def test_one_day_makes_no_chart(days: list[Row]) -> None:
    assert charts(facts(days=days)) == []


def test_a_store_without_durations_has_no_charts_of_them() -> None:
    none = {"seconds": 0.0, "lost_s": 0.0, "timed": 0, "timed_s": 0.0}
    assert [each.title for each in charts(facts(days=[day(0, **none), day(1, **none)]))] == ["Pass rate"]
