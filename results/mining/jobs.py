"""All jobs over one store: the tables that they read, and the frame that each of them returns.

Nothing here sets the master or anything else of the Spark cluster: what starts the session does.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from threading import RLock
from typing import Final

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from fencepost.results.mining.attribution import attribution, attribution_by_test, cells
from fencepost.results.mining.change_points import change_points, slow_downs
from fencepost.results.mining.computed import computed
from fencepost.results.mining.coverage import coverage, reached
from fencepost.results.mining.driver_rows import frame_of
from fencepost.results.mining.flakiness import halts, scores, with_examples
from fencepost.results.mining.identity import HARNESS, TARGET
from fencepost.results.mining.kept import DAILY, Days
from fencepost.results.mining.launch import LARGE
from fencepost.results.mining.quarantine import proposals
from fencepost.results.mining.signatures import signatures
from fencepost.results.mining.times import latencies, outliers, times
from fencepost.results.mining.together import failing_together
from fencepost.results.store.errors import DamagedStore
from fencepost.results.store.kept_days import KeptDays, by_day
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS, Table, table

ExpectedRule = tuple[str, str, str]
"""The id of a rule, the rule in words, and a target that owes it."""


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
        frame = self.of_names(frame)
        if self.since is not None:
            # The day comes first, because Spark then opens only the files of those days.
            frame = frame.where(F.col("date") >= F.lit(self.since.astimezone(UTC).date()))
            frame = frame.where(F.col("started_at") >= F.lit(self.since))
        return frame

    def of_names(self, frame: DataFrame) -> DataFrame:
        """Return the rows that are of the target and of the test, if the frame has tests."""
        if self.target is not None:
            frame = frame.where(F.col("target") == self.target)
        if self.test is not None and "test" in frame.columns:
            frame = frame.where(F.col("test") == self.test)
        return frame


@dataclass(frozen=True)
class Evidence:
    """The tables of the store that the jobs read, and the rules that the targets owe: rule, says, target."""

    runs: DataFrame
    findings: DataFrame
    faults: DataFrame
    timings: DataFrame
    latencies: DataFrame
    requirements: DataFrame
    catalogue: DataFrame
    scope: Scope
    kept: dict[str, DataFrame] = field(default_factory=dict, init=False)
    """Everything that was made of each day (`DAILY`), and what several jobs use; what is not here is made when it is
    first used."""
    _making: RLock = field(default_factory=RLock, init=False)

    def daily(self, name: str) -> DataFrame:
        """Return what is made of each day: an entry of `DAILY`."""
        return self._once(name, lambda: DAILY[name].make(*(getattr(self, table) for table in DAILY[name].sources)))

    def ending(self, at: datetime) -> "Evidence":
        """Return the same evidence with a last week that ends at this time."""
        other = replace(self, scope=replace(self.scope, now=at))
        other.kept.update(self.kept)
        return other

    def scores(self) -> DataFrame:
        """Return the scores of all tests."""
        return self._once("scores of tests", lambda: scores(self.daily("outcomes")))

    def cells(self) -> DataFrame:
        """Return the runs that are alike in features, counted."""
        return self._once("cells of runs", lambda: cells(self.daily("outcomes"), self.runs, self.faults))

    def _once(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        if name not in self.kept:
            with self._making:
                if name not in self.kept:
                    self.kept[name] = computed(make())
        return self.kept[name]


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
    tables = {name: scope.of(_frame(spark, store, table(name), files[name])) for name in _TABLES}
    # In two steps: Spark sorts all rows for an aggregate that holds text, but the first one has none.
    worded = tables["requirements"].groupBy("rule", "target", "says").agg(F.max("started_at").alias("started_at"))
    named = worded.groupBy("rule", "target").agg(F.max_by("says", "started_at").alias("says"))
    expected = frame_of(spark, dict.fromkeys(("rule", "says", "target"), pa.string()), list(expected_rules))
    both = named.select("rule", "says", "target").union(expected)
    catalogue = both.groupBy("rule", "target").agg(F.max("says").alias("says"))
    evidence = Evidence(**tables, catalogue=catalogue, scope=scope)
    if keep is Keep.NOT:
        return evidence

    def read(name: str, of_days: Sequence[str]) -> DataFrame:
        return _frame(spark, store, table(name), of_days)

    days = Days(spark, store, {name: by_day(each) for name, each in files.items()}, read, scope.since)
    # Two at a time: most of it is Spark's planning, on one core.
    with ThreadPoolExecutor(2) as pool:
        frames = pool.map(lambda name: days.frame(name, anew=keep is Keep.ANEW), DAILY)
        evidence.kept.update((name, scope.of_names(frame)) for name, frame in zip(DAILY, frames, strict=True))
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


Job = Callable[[Evidence], DataFrame]
JOBS: Final[Mapping[str, Job]] = {
    "flakiness": lambda of: with_examples(of.scores(), of.runs),
    "halts": lambda of: halts(of.daily("outcomes")),
    "change_points": lambda of: change_points(of.daily("outcomes"), of.daily("builds"), TARGET),
    "harness_changes": lambda of: change_points(of.daily("outcomes"), of.daily("builds"), HARNESS),
    "slow_downs": lambda of: slow_downs(of.timings, of.runs, of.daily("builds"), TARGET),
    "attribution": lambda of: attribution(of.cells()),
    "attribution_by_test": lambda of: attribution_by_test(of.cells()),
    "signatures": lambda of: signatures(of.daily("failures"), of.scope.now),
    "together": lambda of: failing_together(of.daily("occasions")),
    "quarantine": lambda of: proposals(of.scores(), of.daily("outcomes"), of.daily("builds"), of.runs),
    "coverage": lambda of: coverage(of.daily("rules"), of.runs, of.catalogue),
    "reached": lambda of: reached(of.daily("hits")),
    "times": lambda of: times(of.daily("times")),
    "latencies": lambda of: latencies(of.daily("latencies")),
    "outliers": lambda of: outliers(of.timings, of.runs),
}
"""The jobs by the names of their results."""


def run_jobs(spark: SparkSession, store: Store, scope: Scope | None = None) -> dict[str, DataFrame]:
    """Return the result of each job over a store; most are computed when they are read. Raise StoreError."""
    evidence = read_evidence(spark, store, scope or Scope(datetime.now(UTC)))
    return {name: job(evidence) for name, job in JOBS.items()}
