"""The rows that pages and terminal show, collected from the jobs: plain, bounded in number, which no longer need Spark.

The command, the summaries and the pages all show these rows, so they never disagree.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from fencepost.results.mining.activity import basis, days, newest_failures, verdicts_by_day
from fencepost.results.mining.driver_rows import as_frame
from fencepost.results.mining.flakiness import EXAMPLES, with_examples
from fencepost.results.mining.groups import keyed, sorted_rows
from fencepost.results.mining.identity import HALTS, TEST
from fencepost.results.mining.jobs import JOBS, Evidence
from fencepost.results.mining.per_test import (
    USED,
    Runs,
    costs,
    costs_of_week,
    first_day,
    newest_runs,
    signatures_by_test,
    times_by_test,
    verdicts_by_build,
)
from fencepost.results.mining.quarantine import proposals
from fencepost.results.mining.times import DURATION

Row = dict[str, Any]

MOST_TESTS: Final = 2_000
"""The tests that are named: those with the highest cost first, then those that are the least healthy."""
MOST_BUILDS: Final = 60
MOST_RUNS: Final = 12
MOST_KINDS: Final = 10
MOST_LINKED: Final = 500
"""Tests of which the newest failure on each build is known, the first ones that failed."""
MOST_ROWS: Final = 20_000
"""Rows of a job whose result does not grow with the number of tests."""

_SHOWN: Final[Mapping[str, tuple[int, tuple[str, ...]]]] = {
    "halts": (2_000, ("-period", "test")),
    "change_points": (MOST_ROWS, ("-first_run_at", "test")),
    "harness_changes": (2_000, ("-first_run_at", "test")),
    "slow_downs": (2_000, ("-first_run_at", "test")),
    "attribution": (100, ("rank",)),
    "signatures": (300, ("-new", "-failures", "signature")),
    "together": (500, ("-similarity", "first", "second")),
    "coverage": (MOST_ROWS, ("rule", "target", "backend")),
    "reached": (MOST_ROWS, ("target", "kind", "role", "cluster_state")),
    "times": (MOST_ROWS, ("target", "backend", "timing", "fault_kind", "build")),
    "latencies": (MOST_ROWS, ("target", "backend", "operation", "outcome", "during", "build")),
    "outliers": (200, ("-times_usual", "run_id")),
    "attribution_by_test": (5_000, ("q_value", "-z")),
}
"""The jobs, how many of their rows are shown, and in which order (`-`: descending)."""
_OF_VIOLATIONS: Final = frozenset(
    {"change_points", "harness_changes", "attribution", "attribution_by_test", "together"}
)
"""The jobs that have no rows for a store without violations, which that of a healthy cluster is."""


@dataclass(frozen=True)
class Facts:
    """The rows of all jobs by name, and those of the store as a whole. All values are those of JSON.

    - store: its address. since, target: the scope, None for everything. now: the end of the last week.
      no_run_since: that of the newest run, if no week before the present time has one; else None.
    - totals: runs, attempts and those that are violations (with those of left-out runs), tests, targets (names),
      first_at, last_at, left_out (numbers of runs by reason).
    - tests: scores, cost and newest change (`change`; None without one) of each test, at most MOST_TESTS, the most
      expensive first; `slug` names its page.

    - rows: the results of the jobs, and those of `per_test` for the tests that are named.
    """

    store: str
    since: str | None
    target: str | None
    now: str
    no_run_since: str | None
    totals: Row
    tests: list[Row]
    rows: dict[str, list[Row]]

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), separators=(",", ":")))

    @classmethod
    def load(cls, path: Path) -> "Facts":
        return cls(**json.loads(path.read_text()))


def collect(evidence: Evidence, store: str, progress: Callable[[str], None] = lambda name: None) -> Facts:
    """Run all jobs and return what is shown of them. `progress` gets the name of each part that is done."""

    def done(name: str, table: pa.Table) -> list[Row]:
        rows = list(_rows(table))
        progress(name.replace("_", " "))
        return rows

    sums = list(_rows(evidence.daily("sums")))
    evidence, no_run_since = _week_of_newest(evidence, sums)
    totals = _totals(sums, keyed(evidence.daily("costs"), TEST)[1].num_rows)
    needless = frozenset[str]() if totals["violations"] else _OF_VIOLATIONS
    rows = {
        name: done(name, sorted_rows(JOBS[name](evidence), order, most))
        for name, (most, order) in _SHOWN.items()
        if name not in needless
    }
    tests = done("tests", _tests(evidence))
    named = {row["test"] for row in tests} if totals["tests"] > MOST_TESTS else None
    runs = Runs(_of(tests, evidence.rows("runs", USED, named)))
    unstable = [row for row in tests if row["unstable_plans"]]
    run_ids = as_frame(evidence.spark, _of(unstable, runs.rows).select(["run_id"]))
    timings = _of(tests, evidence.rows("timings", DURATION, named))
    timings = timings.filter(pc.invert(pc.is_in(timings["run_id"], evidence.left_out())))
    found = {
        "verdicts_by_build": verdicts_by_build(runs, MOST_BUILDS),
        "newest_runs": newest_runs(runs, MOST_RUNS),
        "signatures_by_test": signatures_by_test(_of(tests, evidence.daily("failures")), MOST_KINDS),
        "times_by_test": times_by_test(timings),
        "verdicts_by_day": verdicts_by_day(_some(runs, tests, "unknown_builds"), MOST_BUILDS),
        "newest_failures": newest_failures(_some(runs, tests, "failed_attempts", MOST_LINKED), MOST_BUILDS),
        "quarantine": _quarantine(evidence, runs, run_ids, tests),
    }
    rows |= {name: done(name, table) for name, table in found.items()}
    rows |= {"days": days(sums), "basis": basis(sums)}
    rows |= {name: [] for name in needless}
    scope = evidence.scope
    since = scope.since.isoformat() if scope.since else None
    return Facts(
        store,
        since,
        scope.target,
        scope.now.isoformat(),
        no_run_since,
        totals,
        _with_changes(_described(evidence, runs, run_ids, tests), rows["change_points"]),
        rows,
    )


def _week_of_newest(evidence: Evidence, sums: list[Row]) -> tuple[Evidence, str | None]:
    """Return the evidence with a last week that has runs, and since when there is none if it is not the present one."""
    newest = max((row["last_at"] for row in sums), default=None)
    if newest is None or (at := datetime.fromisoformat(newest)).date() >= first_day(evidence.scope.now):
        return evidence, None
    return evidence.ending(at), newest


def _of(tests: list[Row], rows: pa.Table) -> pa.Table:
    """Return the rows of these tests."""
    chosen = {_key(row) for row in tests}
    key, keys = keyed(rows, TEST)
    wanted = np.array([_key(row) in chosen for row in keys.to_pylist()], dtype=bool)
    return rows.filter(pa.array(wanted[key]))


def _some(runs: Runs, tests: list[Row], number: str, most: int | None = None) -> Runs:
    """Return the runs of the first tests of which this number is not 0."""
    return Runs(_of([row for row in tests if row[number]][:most], runs.rows.select(USED)))


def _quarantine(evidence: Evidence, runs: Runs, run_ids: DataFrame, tests: list[Row]) -> pa.Table:
    """Return the proposals; a test that is not flaky is none, and the changes of the others need not be found again."""
    scenarios = runs.rows.filter((pc.field("source") == "fencepost") & pc.field("campaign").is_null())
    of_scenarios = {_key(row) for row in keyed(scenarios, TEST)[1].to_pylist()}
    flaky = [row for row in tests if row["state"] == "flaky" and row["unstable_plans"] and _key(row) in of_scenarios]
    outcomes = _of(flaky, evidence.daily("outcomes"))
    return proposals(_of(flaky, evidence.scores()), outcomes, evidence.daily("builds"), run_ids)


def _totals(sums: list[Row], tests: int) -> Row:
    left_out: dict[str, int] = defaultdict(int)
    for row in sums:
        if row["left_out"] is not None:
            left_out[row["left_out"]] += _runs(row)
    return {
        "runs": sum(map(_runs, sums)),
        "attempts": sum(row["attempts"] for row in sums),
        "violations": sum(row["violations"] for row in sums),
        "tests": tests,
        "targets": sorted({row["target"] for row in sums}),
        "first_at": min((row["first_at"] for row in sums), default=None),
        "last_at": max((row["last_at"] for row in sums), default=None),
        "left_out": dict(left_out),
    }


def _runs(sums: Row) -> int:
    return int(sum(sums[verdict] for verdict in ("pass", "violation", *HALTS)))


def _tests(evidence: Evidence) -> pa.Table:
    """Return the scores of the tests that are named."""
    scored = evidence.scores()
    cost = costs_of_week(evidence.daily("costs"), evidence.scope.now)
    # Both have the tests of which scores count a run, in one order.
    return sorted_rows(scored.append_column("cost_s", cost["cost_s"]), ("-cost_s", "healthy", *TEST), MOST_TESTS)


def _described(evidence: Evidence, runs: Runs, run_ids: DataFrame, tests: list[Row]) -> list[Row]:
    """Return the tests with their costs, and with examples of runs."""
    cost = {_key(row): row for row in _rows(costs(runs, evidence.scope.now))}
    columns = dict.fromkeys(TEST, pa.string()) | dict.fromkeys(EXAMPLES, pa.int64())
    hashes = pa.table({name: pa.array([row[name] for row in tests], of) for name, of in columns.items()})
    of = {_key(row): row for row in with_examples(hashes, run_ids).to_pylist()}
    kept = ({name: value for name, value in row.items() if name not in EXAMPLES} for row in tests)
    return [row | of[_key(row)] | cost[_key(row)] | {"slug": slug(*_key(row))} for row in kept]


def _key(row: Row) -> tuple[str, str, str]:
    return row["test"], row["target"], row["backend"]


def _with_changes(tests: list[Row], changes: list[Row]) -> list[Row]:
    """Return the tests with their newest change; the changes are in descending order of time."""
    newest: dict[tuple[str, ...], Row] = {}
    for row in changes:
        newest.setdefault(_key(row), row)
    return [row | {"change": newest.get(_key(row))} for row in tests]


def slug(test: str, target: str, backend: str) -> str:
    """Return the name of the page of a test: readable, safe as a file name, and different for each test."""
    whole = f"{test} {target} {backend}"
    readable = re.sub(r"[^A-Za-z0-9]+", "-", whole).strip("-")[:80]
    return f"{readable}-{hashlib.sha256(whole.encode()).hexdigest()[:6]}"


def _rows(table: pa.Table) -> Iterator[Row]:
    """Yield rows with values as JSON has them."""
    for row in table.to_pylist():
        yield {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value
