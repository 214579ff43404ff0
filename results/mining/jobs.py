"""All jobs over one store: the tables that they read, and the frame that each of them returns.

Nothing here sets the master or anything else of the Spark cluster: what starts the session does.
"""

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from functools import reduce
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from fencepost.results.mining.attribution import (
    OF_FAULTS,
    OF_RUNS,
    Cells,
    attribution,
    attribution_by_test,
    cells,
    mixed,
)
from fencepost.results.mining.change_points import change_points, slow_downs
from fencepost.results.mining.coverage import ExpectedRule, coverage, reached
from fencepost.results.mining.driver_rows import with_dictionaries
from fencepost.results.mining.flakiness import halts, scores, with_examples
from fencepost.results.mining.identity import HARNESS, TARGET
from fencepost.results.mining.kept import DAILY, Days
from fencepost.results.mining.launch import LARGE
from fencepost.results.mining.quarantine import proposals
from fencepost.results.mining.signatures import signatures
from fencepost.results.mining.times import DURATION, durations, latencies, outliers, times
from fencepost.results.mining.together import failing_together
from fencepost.results.store.errors import DamagedStore
from fencepost.results.store.kept_days import KeptDays, by_day
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS, Table, table

_T = TypeVar("_T")


@dataclass(frozen=True)
class Scope:
    """The part of a store that is mined: since a time, on one target, of one test; None for all.

    `now` is the end of the last week, in which what appears first is new.
    """

    now: datetime
    since: datetime | None = None
    target: str | None = None
    test: str | None = None

    def of(self, frame: DataFrame) -> DataFrame:
        """Return the rows of a table of runs that are in the scope."""
        for name, value in self._named.items():
            frame = frame.where(F.col(name) == value)
        if self.since is not None:
            # The day comes first, because Spark then opens only the files of those days.
            frame = frame.where(F.col("date") >= F.lit(self.since.astimezone(UTC).date()))
            frame = frame.where(F.col("started_at") >= F.lit(self.since))
        return frame

    @property
    def where(self) -> list[Any]:
        """Return the same as conditions of `pyarrow.dataset`."""
        found = [pc.field(name) == value for name, value in self._named.items()]
        if self.since is not None:
            found += [pc.field("date") >= self.since.astimezone(UTC).date(), pc.field("started_at") >= self.since]
        return found

    def of_names(self, rows: pa.Table) -> pa.Table:
        """Return the rows that are of the target and of the test, if they have tests."""
        for name, value in self._named.items():
            if name in rows.column_names:
                rows = rows.filter(pc.field(name) == value)
        return rows

    @property
    def _named(self) -> dict[str, str]:
        return {name: value for name, value in (("target", self.target), ("test", self.test)) if value is not None}


@dataclass(frozen=True)
class Evidence:
    """The tables of a store that jobs read, and the rules that targets owe.

    Spark makes what is made of each day, where results are many (`daily`). All that jobs do with it the driver does,
    with Arrow and numpy, as it does with rows of some tests (`rows`).
    """

    spark: SparkSession
    store: Store
    files: Mapping[str, Sequence[str]]
    scope: Scope
    expected_rules: Sequence[ExpectedRule] = ()
    kept: dict[str, Any] = field(default_factory=dict, init=False)
    """All that was made of each day (`DAILY`), and what several jobs use; what is not here is made when it is
    first used."""

    def frame(self, name: str) -> DataFrame:
        """Return the rows of a table that are in the scope, as a frame."""
        return self.scope.of(_frame(self.spark, self.store, table(name), self.files[name]))

    @property
    def runs(self) -> DataFrame:
        return self.frame("runs")

    def rows(self, name: str, columns: Sequence[str], tests: Collection[str] | None = None) -> pa.Table:
        """Return the rows of a table that are in the scope; with `tests` only those of tests with these names."""
        where = self.scope.where
        if tests is not None:
            where = [*where, pc.field("test").isin(pa.array(sorted(tests), pa.string()))]
        condition = reduce(operator.and_, where) if where else None
        return self.store.read_files(table(name), self.files[name], columns, condition)

    def daily(self, name: str) -> pa.Table:
        """Return what is made of each day: an entry of `DAILY`."""
        daily = DAILY[name]
        return self.once(name, lambda: with_dictionaries(daily.make(*map(self.frame, daily.sources)).toArrow()))

    def ending(self, at: datetime) -> "Evidence":
        """Return the same evidence with a last week that ends at this time."""
        other = replace(self, scope=replace(self.scope, now=at))
        other.kept.update(self.kept)
        return other

    def scores(self) -> pa.Table:
        """Return the scores of all tests."""
        return self.once("scores of tests", lambda: scores(self.daily("outcomes")))

    def cells(self) -> Cells:
        """Return the runs that are alike in features, counted."""

        def make() -> Cells:
            strata = mixed(self.daily("outcomes"))
            tests = strata["test"].to_pylist()
            return cells(strata, self.rows("runs", OF_RUNS, tests), self.rows("faults", OF_FAULTS, tests))

        return self.once("cells of runs", make)

    def durations(self) -> pa.Table:
        """Return the timings of runs that scores count, with their ends, of all tests."""
        return self.once("durations", lambda: durations(self.rows("timings", DURATION), self.left_out()))

    def left_out(self) -> pa.Array:
        """Return the ids of the runs that scores do not count."""

        def make() -> pa.Array:
            where = reduce(operator.and_, self.scope.where, pc.field("left_out").is_valid())
            found = self.store.read_files(RUNS, self.files["runs"], ["run_id"], where)
            return found["run_id"].cast(pa.string()).combine_chunks()

        return self.once("runs that are left out", make)

    def once(self, name: str, make: Callable[[], _T]) -> _T:
        if name not in self.kept:
            self.kept[name] = make()
        found: _T = self.kept[name]
        return found


_TABLES: Final = ("runs", "findings", "faults", "timings", "latencies", "requirements")


class Keep(Enum):
    """The rule for what is made of each day: it is not kept in the store, kept, or made anew."""

    NOT, ONCE, ANEW = "not", "once", "anew"


REBUILD: Final = "make anew what the store keeps of each day"


def keep(store: Store, *, anew: bool) -> Keep:
    """Return whether to keep days of a store: all made anew if that is asked for, else if there are many runs.

    Of few runs Spark plans longer than it reads. Raise StoreError.
    """
    return Keep.ANEW if anew else Keep.ONCE if store.rows(RUNS) >= LARGE else Keep.NOT


def read_evidence(
    spark: SparkSession,
    store: Store,
    scope: Scope,
    expected_rules: Iterable[ExpectedRule] = (),
    keep: Keep = Keep.NOT,
) -> Evidence:
    """Read the tables of a store. The catalogue has `expected_rules`, and all rules that the runs name.

    Raise StoreError.
    """
    files = {name: store.files(table(name)) for name in _TABLES}
    evidence = Evidence(spark, store, files, scope, tuple(expected_rules))
    if keep is Keep.NOT:
        return evidence

    def read(name: str, of_days: Sequence[str]) -> DataFrame:
        return _frame(spark, store, table(name), of_days)

    days = Days(spark, store, {name: by_day(each) for name, each in files.items()}, read, scope.since)
    # Two at a time: most of it is Spark's planning, on one core.
    with ThreadPoolExecutor(2) as pool:
        tables = pool.map(lambda name: days.table(name, anew=keep is Keep.ANEW), DAILY)
        evidence.kept.update((name, scope.of_names(rows)) for name, rows in zip(DAILY, tables, strict=True))
    return evidence


def spark_schema(table: Table) -> StructType:
    """Return the schema of a table for `spark.read.schema` and `createDataFrame`; times are instants (UTC)."""
    return from_arrow_schema(table.schema, prefer_timestamp_ntz=False)


def spark_frame(spark: SparkSession, store: Store, table: Table) -> DataFrame:
    """Return the newest version of a table, with the present columns; those of a later version than it has are null.

    Executors read the files at the address of the store, so they need to reach it. Raise DamagedStore, which Spark
    does not for a file without a byte, StoreError.
    """
    # Spark's own `delta` format needs jars that exist for some of its releases only.
    return _frame(spark, store, table, store.files(table))


def _frame(spark: SparkSession, store: Store, table: Table, files: Sequence[str]) -> DataFrame:
    schema = spark_schema(table)
    if not files:
        return spark.createDataFrame([], schema)
    # Without the schema Spark would read the end of each file to infer it.
    frame = spark.read.schema(schema).option("basePath", store.at(table)).parquet(*files)
    return frame.select(*schema.names)


@contextmanager
def naming_damage(store: Store) -> Iterator[None]:
    """Raise DamagedStore if Spark fails and files that it reads are damaged: its own message need not name them."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        for name in _TABLES:
            if found := store.damaged(table(name)):
                raise DamagedStore(name, found) from error
        for name, daily in DAILY.items():
            kept = KeptDays(store, name, daily.version).table
            if found := store.damaged(kept):
                raise DamagedStore(f"{kept.name} (--rebuild makes it anew)", found) from error
        raise


Job = Callable[[Evidence], pa.Table]
JOBS: Final[Mapping[str, Job]] = {
    "flakiness": lambda of: with_examples(of.scores(), of.runs),
    "halts": lambda of: halts(of.daily("outcomes")),
    "change_points": lambda of: change_points(of.daily("outcomes"), of.daily("builds"), TARGET),
    "harness_changes": lambda of: change_points(of.daily("outcomes"), of.daily("builds"), HARNESS),
    "slow_downs": lambda of: slow_downs(of.durations(), of.daily("builds")),
    "attribution": lambda of: attribution(of.cells()),
    "attribution_by_test": lambda of: attribution_by_test(of.cells()),
    "signatures": lambda of: signatures(of.daily("failures"), of.scope.now),
    "together": lambda of: failing_together(of.daily("occasions")),
    "quarantine": lambda of: proposals(of.scores(), of.daily("outcomes"), of.daily("builds"), of.runs),
    "coverage": lambda of: coverage(of.daily("rules"), of.daily("words"), of.expected_rules, of.daily("costs")),
    "reached": lambda of: reached(of.daily("hits")),
    "times": lambda of: times(of.daily("times")),
    "latencies": lambda of: latencies(of.daily("latencies")),
    "outliers": lambda of: outliers(of.durations()),
}
"""The jobs by the names of their results."""


def run_jobs(spark: SparkSession, store: Store, scope: Scope | None = None) -> dict[str, pa.Table]:
    """Return the result of each job over a store. Raise StoreError."""
    evidence = read_evidence(spark, store, scope or Scope(datetime.now(UTC)))
    return {name: job(evidence) for name, job in JOBS.items()}
