"""The rows of the facts as the pages show them: by test, by week, by rule, by series."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fencepost.results.mining.facts import Facts, Row
from fencepost.results.mining.news import key, short

VERDICTS = ("pass", "inconclusive", "infrastructure", "violation")
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
    partners: list[tuple[str, float]] = field(default_factory=list)
    _builds: list[Row] = field(default_factory=list)
    _runs: list[Row] = field(default_factory=list)
    _times: list[Row] = field(default_factory=list)
    _slow_downs: list[Row] = field(default_factory=list)

    def builds(self) -> list[Row]:
        """Return the bars of the builds, the oldest first: shares of verdicts in percent of the most runs of a build.

        `interval` is true where the newest change is with 99 %, `since` at its most probable build.
        """
        rows = sorted(self._builds, key=lambda row: row["first_run_at"])
        most = max((sum(row[verdict] for verdict in VERDICTS) for row in rows), default=1)
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
                "shares": [(verdict, 100 * row[verdict] / most) for verdict in VERDICTS if row[verdict]],
                "interval": number in inside,
                "since": newest is not None and row["build"] == newest["build"],
                "tip": _tip(row),
            }
            for number, row in enumerate(rows)
        ]

    def runs(self) -> list[Row]:
        return sorted(self._runs, key=lambda row: row["started_at"], reverse=True)

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
    for row in rows["newest_runs"]:
        views[key(row)]._runs.append(row)
    for row in rows["times_by_test"]:
        views[key(row)]._times.append(row)
    for row in rows["slow_downs"]:
        views[key(row)]._slow_downs.append(row)
    causes: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows["attribution_by_test"]:
        causes[row["test"], row["target"]].append(row)
    partners: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for row in rows["together"]:
        partners[row["target"], row["first"]].append((row["second"], row["similarity"]))
        partners[row["target"], row["second"]].append((row["first"], row["similarity"]))
    for row in facts.tests:
        view = views[key(row)]
        view.causes = causes[row["test"], row["target"]]
        view.partners = partners[row["target"], f"{row['test']} on {row['backend']}"]
    return views


def _tip(row: Row) -> str:
    counts = ", ".join(f"{row[verdict]} {verdict}" for verdict in reversed(VERDICTS) if row[verdict])
    median = f", median {row['median_s']:.1f} s" if row["median_s"] is not None else ""
    retried = f", {row['retried']} on retry" if row["retried"] else ""
    return f"{short(row['build'])}, {row['first_run_at'][:10]}: {counts}{retried}{median}"


def groups(together: Sequence[Row]) -> list[Row]:
    """Return the groups of tests that fail together, the largest first, with their least similarity."""
    by_group: dict[tuple[str, str], Row] = {}
    for row in together:
        group = by_group.setdefault(
            (row["target"], row["group"]), {"target": row["target"], "tests": set(), "similarity": 1.0}
        )
        group["tests"] |= {row["first"].removesuffix(" on process"), row["second"].removesuffix(" on process")}
        group["similarity"] = min(group["similarity"], row["similarity"])
    rows = [row | {"tests": sorted(row["tests"])} for row in by_group.values()]
    return sorted(rows, key=lambda row: (-len(row["tests"]), row["tests"]))


def halts_by_week(halts: Sequence[Row]) -> list[Row]:
    """Return the sums over all tests for each period, the newest first."""
    sums: dict[str, Row] = {}
    for row in halts:
        week = sums.setdefault(
            row["period"], {"period": row["period"], "runs": 0, "infrastructure": 0, "inconclusive": 0}
        )
        for name in ("runs", "infrastructure", "inconclusive"):
            week[name] += row[name]
    rows = [sums[period] for period in sorted(sums, reverse=True)]
    return rows if any(row["infrastructure"] or row["inconclusive"] for row in rows) else []


def rules(coverage: Sequence[Row], states: Sequence[str]) -> Row:
    """Return `places` (targets and backends) and `rules`: rule, says, state (the weightiest), and a cell a place."""
    places = sorted({(row["target"], row["backend"]) for row in coverage})
    cells: dict[str, dict[tuple[str, str], Row]] = defaultdict(dict)
    for row in coverage:
        cells[row["rule"]][row["target"], row["backend"]] = row | {"counts": _counts(row)}
    found = []
    for rule, here in cells.items():
        state = min((cell["state"] for cell in here.values()), key=states.index)
        says = next((cell["says"] for cell in here.values() if cell["says"]), None)
        weight = states.index(state)
        row = {"rule": rule, "says": says, "state": state, "weight": weight, "cells": [here.get(at) for at in places]}
        found.append(row)
    found.sort(key=lambda row: (row["weight"], row["rule"]))
    names = [target if backend in ("process", "none") else f"{target}, {backend}" for target, backend in places]
    return {"places": names, "rules": found}


def _counts(row: Row) -> str:
    names = {"held": "held", "as_listed": "as listed", "broken": "broken", "not_covered": "not covered", "idle": "idle"}
    return ", ".join(f"{row[name]} {word}" for name, word in names.items() if row[name])


def reached(rows: Sequence[Row]) -> list[Row]:
    """Return the combinations, the unreached ones first, each with `how`: never reached, reached, failed."""

    def how(row: Row) -> str:
        return "failed" if row["violations"] else "reached" if row["runs"] else "never reached"

    return sorted((row | {"how": how(row)} for row in rows), key=lambda row: row["runs"])


def series(rows: Sequence[Row], names: Sequence[str], number: str, middle: str, high: str) -> list[Row]:
    """Return a row for each timing or operation of a place, with the paths of its median and its high percentile.

    The rows have one build each. Builds are in the order of their first appearance among the rows, which is by name.
    """
    by_place: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        by_place[row["target"], row["backend"], *(row[name] for name in names)].append(row)
    shown = []
    for place, here in sorted(by_place.items(), key=lambda each: [str(part) for part in each[0]]):
        last = here[-1]
        top = max(row[high] or 0 for row in here) or 1.0
        shown.append(
            {
                "what": " ".join(str(part) for part in place[2:] if part),
                "where": place[0] if place[1] in ("process", "none") else f"{place[0]}, {place[1]}",
                "number": sum(row[number] for row in here),
                "middle_s": last[middle],
                "high_s": last[high],
                "first_s": here[0][middle],
                "longest_s": max((row.get("longest_s") or 0 for row in here), default=None),
                "longest_run": max(here, key=lambda row: row.get("longest_s") or 0).get("longest_run", ""),
                "median_path": _path(here, middle, top),
                "high_path": _path(here, high, top),
            }
        )
    return shown


def _path(rows: Sequence[Row], name: str, top: float) -> str:
    """Return a path over the builds in a box of 100 x 30; empty for one build."""
    if len(rows) < 2:
        return ""
    points = [
        f"{100 * number / (len(rows) - 1):.1f},{29 - 28 * row[name] / top:.1f}"
        for number, row in enumerate(rows)
        if row[name] is not None
    ]
    return "M" + " L".join(points)
