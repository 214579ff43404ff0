"""The rows of the facts as the pages show them: by week, by rule, by series."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from fencepost.results.mining.facts import Row
from fencepost.results.pages.charts import WIDE, line


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
                "wide": WIDE * len(here),
                "median_path": line([row[middle] for row in here], 0.0, top) if len(here) > 1 else "",
                "high_path": line([row[high] for row in here], 0.0, top),
            }
        )
    return shown
