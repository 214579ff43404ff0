"""Runs that a store has twice, from reports that an earlier version imported again.

Since then the identity of an execution is that of its report (decision 0082). Before, it had the commit and the day in
it, so a report that was copied, or that an earlier job had left, was a new run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

COLUMNS: Final = (
    *("date", "run_id", "source", "target", "test", "run", "started_at", "attempt", "verdict", "duration_s"),
    *("build", "published_at", "report"),
)
_UUID_FILE: Final = r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}-result\.json$"
_EXECUTION: Final = ("source", "target", "run", "test", "started_at", "attempt", "verdict", "duration_s")
_REPORT: Final = ("source", "target", "run", "build", "published_at")
"""The columns that the results of one report share, where it has no identity of its own."""


def copies(runs: pa.Table) -> set[tuple[date, str]]:
    """Return day and run_id of the runs that are there once more; the first of each stays.

    They are: one run_id on several days; one result file of Allure, whose name is its UUID, under several; and reports
    of JUnit of which all executions are equal, to the microsecond of their begin and their durations.
    """
    rows = runs.select(COLUMNS)
    allure = rows.filter(pc.and_(pc.equal(rows["source"], "allure"), pc.match_substring_regex(rows["run"], _UUID_FILE)))
    found = _later(_several(rows, ["run_id"]), ["run_id"])
    found |= _later(_several(allure, ["target", "run"]), ["target", "run"])
    return found | _repeated_reports(
        rows.filter(pc.and_(pc.equal(rows["source"], "junit"), pc.is_null(rows["report"])))
    )


def _several(rows: pa.Table, same: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of which some are equal in these columns, and are not one run of one day."""
    identities = list(dict.fromkeys([*same, "date", "run_id"]))
    counts = rows.group_by(identities).aggregate([]).group_by(list(same)).aggregate([([], "count_all")])
    several = counts.filter(pc.greater(counts["count_all"], 1)).select(list(same))
    found: list[dict[str, Any]] = rows.join(several, list(same), join_type="left semi").to_pylist()
    return found


def _later(rows: Sequence[dict[str, Any]], same: Sequence[str]) -> set[tuple[date, str]]:
    """Return all of the rows that are equal in these columns but the one that was published first."""
    seen = set[tuple[Any, ...]]()
    found = set()
    for row in sorted(rows, key=lambda row: (row["published_at"], row["date"], row["run_id"])):
        identity = tuple(row[name] for name in same)
        if identity in seen:
            found.add((row["date"], row["run_id"]))
        seen.add(identity)
    return found


def _repeated_reports(rows: pa.Table) -> set[tuple[date, str]]:
    suspected = _several(rows, _EXECUTION)
    if not suspected:
        return set()
    reports: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    names = pa.array(sorted({row["run"] for row in suspected}))
    for row in rows.filter(pc.is_in(rows["run"], names)).to_pylist():
        reports[tuple(row[name] for name in _REPORT)].append(row)
    seen = set[frozenset[tuple[Any, ...]]]()
    found = set[tuple[date, str]]()
    for _, report in sorted(reports.items(), key=lambda each: each[0][-1]):
        executions = frozenset(tuple(row[name] for name in _EXECUTION) for row in report)
        # Without any duration two runs of one second can be equal by chance.
        if executions in seen and any(row["duration_s"] for row in report):
            found |= {(row["date"], row["run_id"]) for row in report}
        seen.add(executions)
    return found
