"""The rows that pages and terminal show, collected from the jobs: plain, bounded in number, which no longer need Spark.

The command, the summaries and the pages all show these rows, so they never disagree.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from fencepost.results.mining.activity import basis, days, newest_failures, verdicts_by_day
from fencepost.results.mining.computed import computed
from fencepost.results.mining.driver_rows import frame_of
from fencepost.results.mining.flakiness import EXAMPLES, with_examples
from fencepost.results.mining.identity import HALTS, HARNESS, TEST, ordered_builds
from fencepost.results.mining.jobs import JOBS, Evidence, Job
from fencepost.results.mining.per_test import (
    costs,
    costs_of_week,
    first_day,
    newest_runs,
    signatures_by_test,
    times_by_test,
    verdicts_by_build,
)
from fencepost.results.mining.quarantine import of_scenarios, proposals

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
_USED: Final = (
    *("date", *TEST, "run_id", "started_at", "verdict", "attempt", "attempts", "left_out", "source", "campaign"),
    *("title", "suite", "build", "release", "commit", "duration_s", "duration_unknown", "headline", "folder"),
    *("plan_hash", "seed", "ci_url", "runner"),
)
"""The columns of runs that the frames of single tests are made of."""
_OF_SOME: Final = ("verdicts_by_day", "newest_failures")


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
    # Two at a time: Spark plans each query on one core, which takes longer than the query if there are few runs.
    with ThreadPoolExecutor(2) as pool:

        def submit(name: str, frame: Callable[[], DataFrame]) -> "Future[list[Row]]":
            def run() -> list[Row]:
                rows = list(_rows(frame()))
                progress(name.replace("_", " "))
                return rows

            return pool.submit(run)

        sums = list(_rows(evidence.daily("sums")))
        evidence, no_run_since = _week_of_newest(evidence, sums)
        numbers = pool.submit(_numbers, evidence)
        scores = pool.submit(_tests, evidence)
        totals = _totals(sums, numbers.result()["tests"])
        needless = frozenset[str]() if totals["violations"] else _OF_VIOLATIONS
        if numbers.result()["most_harness_builds"] <= 1:
            needless |= {"harness_changes"}
        found = {
            name: submit(name, partial(_shown, JOBS[name], evidence, *shown))
            for name, shown in _SHOWN.items()
            if name not in needless
        }
        tests = scores.result()
        progress("tests")
        named = _named_of(evidence, tests if totals["tests"] > MOST_TESTS else None)
        described = pool.submit(_described, named.runs, tests, evidence.scope.now)
        found |= {name: submit(name, frame) for name, frame in _of_tests(named).items()}
        found |= {name: submit(name, frame) for name, frame in _of_some(named.runs, tests).items()}
        # A test that is not flaky is not proposed, and the changes of the others need not be found again.
        if flaky := [row for row in tests if row["state"] == "flaky" and row["unstable_plans"]]:
            found["quarantine"] = submit("quarantine", partial(_quarantine, evidence, named.runs, flaky))
    rows = {name: future.result() for name, future in found.items()}
    rows |= {"days": days(sums), "basis": basis(sums)}
    rows |= {name: [] for name in ("quarantine", *_OF_SOME, *needless) if name not in rows}
    scope = evidence.scope
    since = scope.since.isoformat() if scope.since else None
    return Facts(
        store,
        since,
        scope.target,
        scope.now.isoformat(),
        no_run_since,
        totals,
        _with_changes(described.result(), rows["change_points"]),
        rows,
    )


def _week_of_newest(evidence: Evidence, sums: list[Row]) -> tuple[Evidence, str | None]:
    """Return the evidence with a last week that has runs, and since when there is none if it is not the present one."""
    newest = max((row["last_at"] for row in sums), default=None)
    if newest is None or (at := datetime.fromisoformat(newest)).date() >= first_day(evidence.scope.now):
        return evidence, None
    return evidence.ending(at), newest


def _shown(job: Job, evidence: Evidence, most: int, order: Sequence[str]) -> DataFrame:
    return job(evidence).orderBy(*map(_ordered, order)).limit(most)


@dataclass(frozen=True)
class _Named:
    """The rows of the tests that are named."""

    runs: DataFrame
    failures: DataFrame
    timings: DataFrame


def _named_of(evidence: Evidence, tests: list[Row] | None) -> _Named:
    """Return the rows of these tests, those of runs computed as many frames are made of them; None for all tests."""
    frames = evidence.runs, evidence.daily("failures"), evidence.timings
    if tests is None:
        return _Named(*frames)
    chosen = _names(evidence.runs.sparkSession, tests)
    runs, failures, timings = (frame.join(chosen, list(TEST), "left_semi") for frame in frames)
    return _Named(computed(runs.select(*_USED)), failures, timings)


def _of_tests(named: _Named) -> dict[str, Callable[[], DataFrame]]:
    """Return what makes the frames of the tests that are named."""
    return {
        "verdicts_by_build": lambda: verdicts_by_build(named.runs, MOST_BUILDS),
        "newest_runs": lambda: newest_runs(named.runs, MOST_RUNS),
        "signatures_by_test": lambda: signatures_by_test(named.failures, MOST_KINDS),
        "times_by_test": lambda: times_by_test(named.timings, named.runs),
    }


def _of_some(runs: DataFrame, tests: list[Row]) -> dict[str, Callable[[], DataFrame]]:
    """Return what makes the frames that only tests with unknown builds, or with failures, need."""
    unknown = [row for row in tests if row["unknown_builds"]]
    red = [row for row in tests if row["failed_attempts"]][:MOST_LINKED]

    def of(chosen: list[Row]) -> DataFrame:
        return runs.join(_names(runs.sparkSession, chosen), list(TEST), "left_semi")

    frames = {
        "verdicts_by_day": (unknown, lambda: verdicts_by_day(of(unknown), MOST_BUILDS)),
        "newest_failures": (red, lambda: newest_failures(of(red), MOST_BUILDS)),
    }
    return {name: frame for name, (chosen, frame) in frames.items() if chosen}


def _quarantine(evidence: Evidence, runs: DataFrame, flaky: list[Row]) -> DataFrame:
    names = _names(runs.sparkSession, flaky)
    scenarios = of_scenarios(runs.join(names, list(TEST), "left_semi")).select(*TEST).distinct()
    scored = evidence.scores().join(F.broadcast(scenarios), list(TEST), "left_semi")
    return proposals(scored, evidence.daily("outcomes"), evidence.daily("builds"), runs)


def _names(spark: SparkSession, tests: list[Row]) -> DataFrame:
    """Return the identities of tests as a frame that is sent to all executors."""
    return F.broadcast(frame_of(spark, dict.fromkeys(TEST, pa.string()), [_key(row) for row in tests]))


def _ordered(name: str) -> Column:
    return F.col(name.removeprefix("-")).desc() if name.startswith("-") else F.col(name).asc()


def _numbers(evidence: Evidence) -> Row:
    """Return tests (all of the store) and most_harness_builds (of a target), from what is kept of the days."""
    builds = ordered_builds(evidence.daily("builds"), HARNESS).groupBy("target").count().agg(F.max("count")).first()
    tests = evidence.daily("costs").select(*TEST).distinct().count()
    return {"tests": tests, "most_harness_builds": (builds and builds[0]) or 0}


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


def _tests(evidence: Evidence) -> list[Row]:
    """Return the scores of the tests that are named."""
    cost = costs_of_week(evidence.daily("costs"), evidence.scope.now)
    joined = evidence.scores().join(cost, list(TEST))
    return list(_rows(joined.orderBy(F.desc("cost_s"), "healthy", *TEST).limit(MOST_TESTS)))


def _described(runs: DataFrame, tests: list[Row], now: datetime) -> list[Row]:
    """Return the tests with their costs, and with examples of runs."""
    spark = runs.sparkSession
    cost = {_key(row): row for row in _rows(costs(runs, now))}
    columns = dict.fromkeys(TEST, pa.string()) | dict.fromkeys((*EXAMPLES, "unstable_plans"), pa.int64())
    hashes = [[row[name] for name in columns] for row in tests]
    examples = with_examples(frame_of(spark, columns, hashes), runs)
    of = {_key(row): {f"{name}_run": row[f"{name}_run"] for name in EXAMPLES} for row in _rows(examples)}
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


def _rows(frame: DataFrame) -> Iterator[Row]:
    """Yield the rows of a bounded frame, with values as JSON has them."""
    for row in frame.collect():
        yield {name: _plain(value) for name, value in row.asDict(recursive=True).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()  # Spark gives times of this machine's zone
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value
