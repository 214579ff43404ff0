"""The rows that pages and terminal show, collected from the jobs: plain, bounded in number, which no longer need Spark.

The command, the summaries and the pages all show these rows, so they never disagree.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from fencepost.results.mining.activity import basis, days, newest_failures, verdicts_by_day
from fencepost.results.mining.flakiness import outcomes_by_day
from fencepost.results.mining.identity import TEST, builds_by_day, of_run
from fencepost.results.mining.jobs import JOBS, Evidence, Job
from fencepost.results.mining.per_test import (
    WEEK,
    costs,
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
    evidence, no_run_since = _week_of_newest(evidence)
    runs = evidence.runs
    # Two at a time: Spark plans each query on one core, which takes longer than the query if there are few runs.
    with ThreadPoolExecutor(2) as pool:

        def submit(name: str, frame: Callable[[], DataFrame]) -> "Future[list[Row]]":
            def run() -> list[Row]:
                rows = list(_rows(frame()))
                progress(name.replace("_", " "))
                return rows

            return pool.submit(run)

        totals, scores = pool.submit(_totals, runs), pool.submit(_tests, evidence)
        needless = frozenset[str]() if totals.result()["violations"] else _OF_VIOLATIONS
        found = {
            name: submit(name, partial(_shown, JOBS[name], evidence, *shown))
            for name, shown in _SHOWN.items()
            if name not in needless
        }
        found |= {"days": submit("days", partial(days, runs)), "basis": submit("basis", partial(basis, runs))}
        everything = totals.result()["tests"] <= MOST_TESTS
        if everything:
            found |= {name: submit(name, frame) for name, frame in _of_tests(evidence, None).items()}
        tests = scores.result()
        progress("tests")
        if not everything:
            found |= {name: submit(name, frame) for name, frame in _of_tests(evidence, tests).items()}
        found |= {name: submit(name, frame) for name, frame in _of_some(runs, tests).items()}
        # A test that is not flaky is not proposed, and the changes of the others need not be found again.
        if flaky := [row for row in tests if row["state"] == "flaky" and row["unstable_plans"]]:
            found["quarantine"] = submit("quarantine", partial(_quarantine, evidence, flaky))
    rows = {name: future.result() for name, future in found.items()}
    rows |= {name: [] for name in ("quarantine", *_OF_SOME, *needless) if name not in rows}
    scope = evidence.scope
    since = scope.since.isoformat() if scope.since else None
    return Facts(
        store,
        since,
        scope.target,
        scope.now.isoformat(),
        no_run_since,
        totals.result(),
        _with_changes(tests, rows["change_points"]),
        rows,
    )


def _week_of_newest(evidence: Evidence) -> tuple[Evidence, str | None]:
    """Return the evidence with a last week that has runs, and since when there is none if it is not the present one."""
    newest = evidence.runs.agg(F.max("started_at")).first()
    at = newest[0].astimezone(UTC) if newest is not None and newest[0] is not None else None
    if at is None or at >= evidence.scope.now - WEEK:
        return evidence, None
    return replace(evidence, scope=replace(evidence.scope, now=at)), at.isoformat()


def _shown(job: Job, evidence: Evidence, most: int, order: Sequence[str]) -> DataFrame:
    return job(evidence).orderBy(*map(_ordered, order)).limit(most)


def _of_tests(evidence: Evidence, tests: list[Row] | None) -> dict[str, Callable[[], DataFrame]]:
    """Return what makes the frames of the tests that are named; None for all tests of the store."""
    runs = evidence.runs
    chosen = _named(runs.sparkSession, tests) if tests is not None else None

    def of_chosen(frame: DataFrame) -> DataFrame:
        return frame if chosen is None else frame.join(chosen, list(TEST), "left_semi")

    return {
        "verdicts_by_build": lambda: verdicts_by_build(of_chosen(runs), MOST_BUILDS),
        "newest_runs": lambda: newest_runs(of_chosen(runs), MOST_RUNS),
        "signatures_by_test": lambda: signatures_by_test(of_chosen(evidence.findings), runs, MOST_KINDS),
        "times_by_test": lambda: times_by_test(of_chosen(evidence.timings), runs),
    }


def _of_some(runs: DataFrame, tests: list[Row]) -> dict[str, Callable[[], DataFrame]]:
    """Return what makes the frames that only tests with unknown builds, or with failures, need."""
    unknown = [row for row in tests if row["unknown_builds"]]
    red = [row for row in tests if row["failed_attempts"]][:MOST_LINKED]

    def of(chosen: list[Row]) -> DataFrame:
        return runs.join(_named(runs.sparkSession, chosen), list(TEST), "left_semi")

    frames = {
        "verdicts_by_day": (unknown, lambda: verdicts_by_day(of(unknown), MOST_BUILDS)),
        "newest_failures": (red, lambda: newest_failures(of(red), MOST_BUILDS)),
    }
    return {name: frame for name, (chosen, frame) in frames.items() if chosen}


def _quarantine(evidence: Evidence, flaky: list[Row]) -> DataFrame:
    runs = evidence.runs
    runs = of_scenarios(runs).join(_named(runs.sparkSession, flaky), list(TEST), "left_semi")
    return proposals(outcomes_by_day(runs), builds_by_day(runs), runs)


def _named(spark: SparkSession, tests: list[Row]) -> DataFrame:
    """Return the identities of tests as a frame that is sent to all executors."""
    names = ", ".join(f"{name} string" for name in TEST)
    return F.broadcast(spark.createDataFrame([[row[name] for name in TEST] for row in tests], names))


def _ordered(name: str) -> Column:
    return F.col(name.removeprefix("-")).desc() if name.startswith("-") else F.col(name).asc()


def _totals(runs: DataFrame) -> Row:
    groups = runs.groupBy("target", "left_out").agg(
        F.count(of_run(F.lit(1))).alias("runs"),
        F.count("*").alias("attempts"),
        F.count(F.when(F.col("verdict") == "violation", 1)).alias("violations"),
        F.min("started_at").alias("first_at"),
        F.max("started_at").alias("last_at"),
    )
    rows = list(_rows(groups))
    left_out: dict[str, int] = {}
    for row in rows:
        if row["left_out"] is not None:
            left_out[row["left_out"]] = left_out.get(row["left_out"], 0) + row["runs"]
    return {
        "runs": sum(row["runs"] for row in rows),
        "attempts": sum(row["attempts"] for row in rows),
        "violations": sum(row["violations"] for row in rows),
        "tests": runs.select(*TEST).distinct().count(),
        "targets": sorted({row["target"] for row in rows}),
        "first_at": min((row["first_at"] for row in rows), default=None),
        "last_at": max((row["last_at"] for row in rows), default=None),
        "left_out": left_out,
    }


def _tests(evidence: Evidence) -> list[Row]:
    """Return the scores and the costs of the tests."""
    cost = costs(evidence.runs, evidence.scope.now)
    joined = JOBS["flakiness"](evidence).join(cost, list(TEST))
    rows = list(_rows(joined.orderBy(F.desc("cost_s"), "healthy", *TEST).limit(MOST_TESTS)))
    return [row | {"slug": slug(row["test"], row["target"], row["backend"])} for row in rows]


def _with_changes(tests: list[Row], changes: list[Row]) -> list[Row]:
    """Return the tests with their newest change; the changes are in descending order of time."""
    newest: dict[tuple[str, ...], Row] = {}
    for row in changes:
        newest.setdefault(tuple(row[name] for name in TEST), row)
    return [row | {"change": newest.get(tuple(row[name] for name in TEST))} for row in tests]


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
