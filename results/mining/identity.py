"""The columns that the jobs share: tests, builds, and the runs that are counted."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TEST = ("test", "target", "backend")
"""The columns that identify a test: containers are slower than processes, so the backend belongs to it."""
HALTS = ("infrastructure", "inconclusive")
"""The verdicts that prove nothing about the rules."""
TARGET, HARNESS = "target", "harness"
"""Sorts of builds: of the target, and of fencepost itself."""


def counted(runs: DataFrame) -> DataFrame:
    """Return the runs that scores count: not those with a planted defect, and those in which no node started."""
    return runs.where(F.col("left_out").isNull())


def of_counted(rows: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the rows of a table that belong to runs that scores count. Few are left out, so only these are joined.

    The rows of a run whose publication was cut off count as well, until it is published again.
    """
    left_out = runs.where(F.col("left_out").isNotNull()).select("run_id")
    return rows.join(F.broadcast(left_out), "run_id", "left_anti")


def failed() -> Column:
    """Return 1 for a violation, 0 for a pass, and null for a verdict that proves nothing."""
    return F.when(F.col("verdict") == "violation", 1).when(F.col("verdict") == "pass", 0)


def is_last_attempt() -> Column:
    """Return whether an execution has the verdict of its run: the last attempt of those that it was tried again in."""
    return F.coalesce(F.col("attempt") >= F.col("attempts"), F.lit(True))


def of_run(value: Column) -> Column:
    """Return a value for the executions that have the verdict of their run; null for earlier attempts."""
    return F.when(is_last_attempt(), value)


def is_retried_pass() -> Column:
    """Return whether an execution is a run that passed after attempts that failed."""
    return is_last_attempt() & (F.col("verdict") == "pass") & (F.coalesce("attempts", F.lit(1)) > 1)


def build_of(sort: str) -> Column:
    """Return the build of one sort; null where it is not known. Each table has those of the target.

    A build of the target is the digest of its programs or its commit, as it was published, else its release.
    """
    return F.col("commit") if sort == HARNESS else F.coalesce("build", "release")


def sum_of_seconds(seconds: Column) -> Column:
    """Return a sum of durations, 0 without any. It adds up whole microseconds, so the order does not matter."""
    return F.coalesce(F.sum(F.round(seconds * 1e6).cast("long")), F.lit(0)) / 1e6


def builds_by_day(runs: DataFrame) -> DataFrame:
    """Return the builds of each day: date, target, build, release, commit, target_commit, first_at, and build_hash and
    commit_hash, which `flakiness.outcomes_by_day` has.
    """
    columns = ("date", "target", build_of(TARGET).alias("build"), "release", "commit", "target_commit")
    # Only what is compared here is no text: Spark sorts all rows for an aggregate that holds text.
    found = runs.groupBy(*columns).agg(F.min("started_at").alias("first_at"))
    return found.withColumns({f"{name}_hash": F.xxhash64(name) for name in ("build", "commit")})


@dataclass(frozen=True, slots=True)
class Build:
    """A build of a target, or of the harness on it; `number` is from 1, in the order in which they first ran."""

    target: str
    build: str
    number: int
    first_run_at: datetime
    hash: int


def ordered_builds(builds: pa.Table, sort: str) -> list[Build]:
    """Return the builds of each target in the order in which they first ran, of those of each day (`builds_by_day`)."""
    name = "commit" if sort == HARNESS else "build"
    first: dict[tuple[str, str], tuple[datetime, int]] = {}
    for row in builds.filter(pc.is_valid(builds[name])).to_pylist():
        key, at = (row["target"], row[name]), (row["first_at"], row[f"{name}_hash"])
        first[key] = min(first.get(key, at), at)
    number: Counter[str] = Counter()
    found = []
    for target, build in sorted(first, key=lambda key: (key[0], first[key][0], key[1])):
        number[target] += 1
        found.append(Build(target, build, number[target], *first[target, build]))
    return found
