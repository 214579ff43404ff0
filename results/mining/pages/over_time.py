"""The days of a store as figures of the last week, and as charts: pass rate, durations, hours."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from math import floor
from typing import Final

from fencepost.results.mining.activity import COUNTS
from fencepost.results.mining.facts import Facts, Row
from fencepost.results.mining.news import WEEK, hours
from fencepost.results.mining.per_test import ATTENTION_S
from fencepost.results.pages.charts import Chart, ceiling

MOST_PLACES: Final = 90
"""The days that are shown one by one; of more, weeks are."""


def last_week(facts: Facts) -> Row | None:
    """Return the sums of the last seven days with runs and of those before: runs, rate, red, retried, hours, costs.

    `before` is the rate of the week before, None without runs. Return None for a store without runs.
    """
    end = datetime.fromisoformat(facts.now).date()
    week, before = (
        _sum(row for row in facts.rows["days"] if begin - WEEK < date.fromisoformat(row["date"]) <= begin)
        for begin in (end, end - WEEK)
    )
    if not _runs(week):
        return None
    red = _runs(week) - week["pass"]
    return {
        "runs": _runs(week),
        "rate": _rate(week),
        "before": _rate(before),
        "red": red,
        "retried": week["retried"],
        "machine_s": week["seconds"],
        "lost_s": week["lost_s"],
        "attention_s": red * ATTENTION_S,
        "cost_s": week["lost_s"] + red * ATTENTION_S,
    }


def charts(facts: Facts) -> list[Chart]:
    """Return pass rate, hours, and the duration of a pass over time; none for a store of one day."""
    places = _places(facts.rows["days"])
    if len(places) < 2:
        return []
    names = [name for name, _ in places]
    rows = [row for _, row in places]
    rates = [_rate(row) for row in rows]
    means = [row["timed_s"] / row["timed"] if row["timed"] else None for row in rows]
    every = "by day" if len(names[0]) == 10 else "by week"

    def chart(
        title: str, about: str, tips: Sequence[str], low: float, high: float, words: Callable[[float], str]
    ) -> Chart:
        named = [f"{name}: {tip}" for name, tip in zip(names, tips, strict=True)]
        return Chart(title, f"{every}, {about}", named, low, high, words, names[0], names[-1])

    found = []
    if shown := [rate for rate in rates if rate is not None]:
        low = floor(max(0.0, min(shown) - 0.005) * 20) / 20
        tips = [
            f"{_percent(rate)} of {_runs(row):,} runs passed, {row['violation']:,} failed"
            + (f", {row['retried']:,} passed on retry" if row["retried"] else "")
            for rate, row in zip(rates, rows, strict=True)
        ]
        rate = chart("Pass rate", "passes among passes and violations", tips, low, 1.0, _percent)
        rate.lines["rate"] = rates
        found.append(rate)
    if top := max(row["seconds"] for row in rows):
        tips = [f"{hours(row['seconds'])}, of which {hours(row['lost_s'])} did not pass" for row in rows]
        high = ceiling(top / 3600)
        spent = chart("Hours of runs", "red: attempts that did not pass", tips, 0.0, high, lambda value: f"{value:g} h")
        spent.bars["lost"] = [row["lost_s"] / 3600 for row in rows]
        spent.bars["passed"] = [(row["seconds"] - row["lost_s"]) / 3600 for row in rows]
        found.append(spent)
    if usual := max((mean for mean in means if mean is not None), default=0.0):
        tips = ["no pass" if mean is None else f"{mean:.3g} s" for mean in means]
        lasted = chart(
            "Duration of a pass", "mean over all tests", tips, 0.0, ceiling(usual), lambda value: f"{value:g} s"
        )
        lasted.lines["duration"] = means
        found.append(lasted)
    return found


def _places(days: Sequence[Row]) -> list[tuple[str, Row]]:
    """Return the sums over all targets by day, or by week if there are many days, the oldest first."""
    dates = [date.fromisoformat(row["date"]) for row in days]
    are_days = len(set(dates)) <= MOST_PLACES

    def place(day: date) -> date:
        return day if are_days else day - timedelta(days=day.weekday())

    by_place: dict[date, list[Row]] = {}
    for day, row in zip(dates, days, strict=True):
        by_place.setdefault(place(day), []).append(row)
    names = {at: f"{at}" if are_days else f"week of {at}" for at in sorted(by_place)}
    return [(name, _sum(by_place[at])) for at, name in names.items()]


def _sum(rows: Iterable[Row]) -> Row:
    sums: Row = dict.fromkeys(COUNTS, 0)
    for row in rows:
        for name in COUNTS:
            sums[name] += row[name]
    return sums


def _runs(row: Row) -> int:
    return int(row["pass"] + row["violation"] + row["infrastructure"] + row["inconclusive"])


def _rate(row: Row) -> float | None:
    judged = row["pass"] + row["violation"]
    return row["pass"] / judged if judged else None


def _percent(share: float | None) -> str:
    if share is None:
        return "none"
    return f"{share:.0%}" if share in (0, 1) or abs(share * 100 - round(share * 100)) < 1e-9 else f"{share:.1%}"
