"""The grid of tests and builds: a cell says by a letter, and by how dark it is, how a test did on a build."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from fencepost.results.mining.facts import MOST_LINKED, Facts, Row
from fencepost.results.mining.news import key, short

MOST_CELLS: Final = 10_000
MOST_COLUMNS: Final = 40
LEGEND: Final = {
    ("ok", "·"): "all passed",
    ("again", "r"): "all passed, some on retry",
    ("few", "1"): "to 4: so many tenths failed",
    ("most", "5"): "to 9",
    ("all", "×"): "all failed",
    ("halt", "i"): "infrastructure",
    ("halt", "?"): "inconclusive",
}
"""The classes and the letters of cells, with their meanings."""


def grids(facts: Facts) -> list[Row]:
    """Return a grid for each target, that with the most failures first; none for a single column.

    A grid has target, by (`build`, or `day` where most runs are of unknown builds), columns (name, and what a pointer
    shows), rows (each with `row` of the test and its `cells`, the most expensive test first) and more (tests that are
    left out). All have at most MOST_CELLS together.
    """
    of_target: dict[str, list[Row]] = defaultdict(list)
    for row in facts.tests:
        of_target[row["target"]].append(row)
    by_build, by_day = (_by_test(facts.rows[name]) for name in ("verdicts_by_build", "verdicts_by_day"))
    wanted = []
    for target, tests in of_target.items():
        is_by_day = 2 * sum(row["unknown_builds"] for row in tests) > sum(row["runs"] for row in tests)
        here = by_day if is_by_day else by_build
        found = {key(row): here.get(key(row), ()) for row in tests}
        columns = _columns(found.values(), "date" if is_by_day else "build")
        if len(columns) > 1:
            wanted.append((sum(row["violations"] for row in tests), target, tests, found, columns, is_by_day))
    left = MOST_CELLS
    shown = []
    for _, target, tests, found, columns, is_by_day in sorted(wanted, key=lambda each: (-each[0], each[1])):
        most = min(MOST_LINKED, left // len(columns))
        left -= most * len(columns) if len(tests) > most else len(tests) * len(columns)
        name = "date" if is_by_day else "build"
        rows = []
        for row in tests[:most]:
            at = {each[name]: each for each in found[key(row)]}
            rows.append({"row": row, "cells": [cell(at[column]) if column in at else None for column in columns]})
        if rows:
            heads = [
                (short(column), f"{short(column)}, {day[:10]}" if name == "build" else column)
                for column, day in columns.items()
            ]
            shown.append(
                {
                    "target": target,
                    "by": "day" if is_by_day else "build",
                    "columns": heads,
                    "rows": rows,
                    "more": len(tests) - len(rows),
                }
            )
    return shown


def cell(counts: Row) -> tuple[str, str, str]:
    """Return the class and the letter of a cell, and its numbers.

    These are pass, violation, infrastructure, inconclusive, retried. The letter is the share of failures in tenths, so
    it says without a colour what the colour says.
    """
    failed, judged = counts["violation"], counts["pass"] + counts["violation"]
    names = ("pass", "violation", "infrastructure", "inconclusive", "retried")
    numbers = " ".join(str(counts[name]) for name in names)
    if not judged:
        return "halt", "i" if counts["infrastructure"] else "?", numbers
    if not failed:
        return ("again", "r", numbers) if counts["retried"] else ("ok", "·", numbers)
    if failed == judged:
        return "all", "×", numbers
    tenths = max(1, min(9, round(10 * failed / judged)))
    return "few" if tenths < 5 else "most", str(tenths), numbers


def _by_test(rows: Sequence[Row]) -> Mapping[tuple[str, str, str], list[Row]]:
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def _columns(of_tests: Iterable[Sequence[Row]], name: str) -> dict[str, str]:
    """Return the newest known builds, or days, with the time of their first run, the oldest first."""
    first: dict[str, str] = {}
    for rows in of_tests:
        for row in rows:
            if row[name] is not None:
                at = row["date"] if name == "date" else row["first_run_at"]
                first[row[name]] = min(at, first.get(row[name], at))
    newest = sorted(first, key=lambda each: (first[each], each))[-MOST_COLUMNS:]
    return {each: first[each] for each in newest}
