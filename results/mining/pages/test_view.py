"""All rows of one test, as its page shows them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.results.mining.duration_steps import Step, step_of
from fencepost.results.mining.facts import Facts, Row
from fencepost.results.mining.news import key, short
from fencepost.results.pages.charts import Chart, ceiling

VERDICTS = ("pass", "inconclusive", "infrastructure", "violation")
BARS = ("pass", "retried", *VERDICTS[1:])
"""From the top of a bar to its bottom, so that failures stand on the ground and compare."""
_Key = tuple[str, str, str]


@dataclass
class TestView:
    """All rows of one test. `partners` are the tests that fail together with it, with the similarity."""

    __test__ = False  # it is no test

    changes: list[Row] = field(default_factory=list)
    harness_changes: list[Row] = field(default_factory=list)
    causes: list[Row] = field(default_factory=list)
    signatures: list[Row] = field(default_factory=list)
    partners: list[Row] = field(default_factory=list)
    _builds: list[Row] = field(default_factory=list)
    _days: list[Row] = field(default_factory=list)
    _runs: list[Row] = field(default_factory=list)
    _times: list[Row] = field(default_factory=list)
    _slow_downs: list[Row] = field(default_factory=list)

    def builds(self) -> list[Row]:
        """Return the bars of the known builds, the oldest first: shares of verdicts in percent of the most of a build.

        `interval` is true where the newest change is with 99 %, `since` at its most probable build.
        """
        rows = sorted((row for row in self._builds if row["build"] is not None), key=lambda row: row["first_run_at"])
        numbers = {row["build"]: number for number, row in enumerate(rows)}
        newest = self.changes[0] if self.changes else None
        inside = (
            range(numbers.get(newest["low_build"], 0), numbers.get(newest["high_build"], -1) + 1)
            if newest is not None
            else range(0)
        )
        return [
            row
            | {
                "name": short(row["build"]),
                "day": row["first_run_at"][:10],
                "interval": number in inside,
                "since": newest is not None and row["build"] == newest["build"],
            }
            for number, row in enumerate(_bars(rows))
        ]

    def days(self) -> list[Row]:
        """Return the bars of the days, the oldest first; none for a test of which all builds are known."""
        rows = _bars(sorted(self._days, key=lambda row: row["date"]))
        return [row | {"name": row["date"], "day": "", "interval": False, "since": False} for row in rows]

    def places(self) -> list[Row]:
        """Return the bars of the builds, or those of the days if some are not known."""
        return self.days() or self.builds()

    def duration(self) -> tuple[Chart, str] | None:
        """Return the chart of the duration of a pass and its change in words, over builds or days; None for fewer
        than two."""
        rows = [row for row in self.places() if row["median_s"]]
        if len(rows) < 2:
            return None
        values = [row["median_s"] for row in rows]
        step = step_of(values)
        words = "The duration of a pass did not change." if step is None else _step_words(step, rows)
        tips = [f"{row['name']}: {row['median_s']:.3g} s" for row in rows]
        top = ceiling(max(values))
        lines: dict[str, Sequence[float | None]] = {"duration": values}
        if step is not None:
            lines["level"] = [step.before_s if place < step.at else step.after_s for place in range(len(rows))]
        chart = Chart(
            *("", "", tips, 0.0, top, lambda value: f"{value:g} s", rows[0]["name"], rows[-1]["name"]),
            lines=lines,
            band=(step.low, step.high) if step is not None else None,
        )
        return chart, words

    def runs(self) -> list[Row]:
        return sorted(
            {row["run_id"]: row for row in self._runs}.values(), key=lambda row: row["started_at"], reverse=True
        )

    def times(self) -> list[Row]:
        """Return the timings, each with the builds at which it changed."""
        rows = sorted(self._times, key=lambda row: (row["timing"], row["fault_kind"] or ""))
        return [
            row | {"changes": [each for each in self._slow_downs if each["timing"] == row["timing"]]} for row in rows
        ]


def by_test(facts: Facts) -> Mapping[_Key, TestView]:
    views: dict[_Key, TestView] = defaultdict(TestView)
    rows = facts.rows
    for row in rows["change_points"]:
        views[key(row)].changes.append(row)
    for row in rows["harness_changes"]:
        views[key(row)].harness_changes.append(row)
    for row in rows["signatures_by_test"]:
        views[key(row)].signatures.append(row)
    for row in rows["verdicts_by_build"]:
        views[key(row)]._builds.append(row)
    for row in rows["verdicts_by_day"]:
        views[key(row)]._days.append(row)
    for row in [*rows["newest_runs"], *rows["newest_failures"]]:
        views[key(row)]._runs.append(row)
    for row in rows["times_by_test"]:
        views[key(row)]._times.append(row)
    for row in rows["slow_downs"]:
        views[key(row)]._slow_downs.append(row)
    causes: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows["attribution_by_test"]:
        causes[row["test"], row["target"]].append(row)
    slugs = {(row["target"], f"{row['test']} on {row['backend']}"): row["slug"] for row in facts.tests}
    partners: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows["together"]:
        for own, other in (("first", "second"), ("second", "first")):
            partner = {
                "name": row[other],
                "slug": slugs.get((row["target"], row[other])),
                "failed": row[f"{other}_failures"],
            }
            partners[row["target"], row[own]].append(row | partner | {"own_failed": row[f"{own}_failures"]})
    for row in facts.tests:
        view = views[key(row)]
        view.causes = causes[row["test"], row["target"]]
        view.partners = partners[row["target"], f"{row['test']} on {row['backend']}"]
    return views


def _bars(rows: Sequence[Row]) -> list[Row]:
    """Return rows with `shares` of verdicts in percent of the most runs of a row, and `tip`."""
    most = max((sum(row[verdict] for verdict in VERDICTS) for row in rows), default=1)

    def shares(row: Row) -> list[tuple[str, float]]:
        counts = row | {"pass": row["pass"] - row["retried"]}
        return [(verdict, 100 * counts[verdict] / most) for verdict in BARS if counts[verdict]]

    return [row | {"shares": shares(row), "tip": _tip(row)} for row in rows]


def _tip(row: Row) -> str:
    counts = ", ".join(f"{row[verdict]} {verdict}" for verdict in reversed(VERDICTS) if row[verdict])
    median = f", median {row['median_s']:.1f} s" if row["median_s"] is not None else ""
    retried = f", {row['retried']} on retry" if row["retried"] else ""
    place = f"{short(row['build'])}, {row['first_run_at'][:10]}" if "build" in row else row["date"]
    return f"{place}: {counts}{retried}{median}"


def _step_words(step: Step, rows: Sequence[Row]) -> str:
    name, low, high = (rows[place]["name"] for place in (step.at, step.low, step.high))
    interval = f" (99 %: {low} to {high})" if low != high else ""
    ratio = step.after_s / step.before_s
    how = "longer" if ratio > 1 else "shorter"
    return f"It takes {how} since {name}{interval}: {step.before_s:.3g} s → {step.after_s:.3g} s, × {ratio:.2g}."
