"""Rows that jobs make of each day once, and keep in the store: days that are there are read, only others are made.

What is made of a day depends on the rows of that day alone. So results are the same whether days were kept or not.
"""

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from fencepost.results.mining.activity import sums_by_day
from fencepost.results.mining.coverage import hits_by_day, rules_by_day, words_by_day
from fencepost.results.mining.driver_rows import with_dictionaries
from fencepost.results.mining.flakiness import outcomes_by_day
from fencepost.results.mining.identity import builds_by_day
from fencepost.results.mining.per_test import costs_by_day
from fencepost.results.mining.signatures import failures_by_day
from fencepost.results.mining.times import latencies_by_day, times_by_day
from fencepost.results.mining.together import occasions_by_day
from fencepost.results.store.errors import StoreError
from fencepost.results.store.kept_days import FilesOfDays, KeptDays, Part, by_day, digest
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS

log = logging.getLogger(__name__)
_DAY: Final = "day"


@dataclass(frozen=True)
class Daily:
    """Something that is made of the rows of a day. `version` rises with each change of what is made.

    `make` gets the frames of the tables in `sources`, of which the first one says which days there are, and returns a
    frame with the column date, in which the rows of each day follow from those of the same day.
    """

    version: int
    sources: tuple[str, ...]
    make: Callable[..., DataFrame]


DAILY: Final[Mapping[str, Daily]] = {
    "outcomes": Daily(1, ("runs",), outcomes_by_day),
    "builds": Daily(2, ("runs",), builds_by_day),
    "sums": Daily(1, ("runs",), sums_by_day),
    "costs": Daily(1, ("runs",), costs_by_day),
    "occasions": Daily(1, ("runs",), occasions_by_day),
    "failures": Daily(1, ("findings", "faults", "runs"), failures_by_day),
    "rules": Daily(1, ("requirements", "runs"), rules_by_day),
    "words": Daily(1, ("requirements",), words_by_day),
    "hits": Daily(1, ("faults", "runs"), hits_by_day),
    "times": Daily(1, ("timings", "runs"), times_by_day),
    "latencies": Daily(1, ("latencies", "runs"), latencies_by_day),
}
"""The rows that are kept, by the names of their tables."""


def runs_to_make(store: Store, *, anew: bool) -> int:
    """Return the runs of the days of which something is to be made; `anew` for all days. Raise StoreError."""
    files = by_day(store.files(RUNS))
    name = "outcomes"
    there = KeptDays(store, name, DAILY[name].version).files()
    missing = [file for day, each in files.items() if anew or (day, digest([each])) not in there for file in each]
    return store.rows(RUNS, missing)


Read = Callable[[str, Sequence[str]], DataFrame]
"""Reads data files of the table with this name."""


@dataclass(frozen=True)
class Days:
    """The data files of the tables by day, and how they are read; `since` leaves out what began earlier."""

    spark: SparkSession
    store: Store
    files: Mapping[str, FilesOfDays]
    read: Read
    since: datetime | None = None

    def table(self, name: str, *, anew: bool = False) -> pa.Table:
        """Return what is made of all days. Those that are not kept are made and kept, with `anew` all of them.

        Of the day of `since`, what began later is made for this call. Raise StoreError.
        """
        daily = DAILY[name]
        first = self.since.astimezone(UTC) if self.since else None
        of = {
            day: digest([self.files[source].get(day, ()) for source in daily.sources])
            for day in self.files[daily.sources[0]]
            if first is None or day >= first.date()
        }
        parts = {first.date()} & set(of) if first is not None and first.time() != time() else set[date]()
        kept = KeptDays(self.store, name, daily.version)
        there = kept.files()
        files = [file for day in sorted(of.keys() - parts) if not anew for file in there.get((day, of[day]), ())]
        missing = {day for day in of if anew or (day, of[day]) not in there} - parts
        if missing:
            try:
                files += self._keep(kept, {day: of[day] for day in missing}, daily)
            except (StoreError, PySparkException, Py4JError) as error:
                log.warning("what was made of %d days is not kept: %s", len(missing), str(error).splitlines()[0])
                parts |= missing
        tables = [with_dictionaries(self._made(daily, parts).toArrow())] if parts or not files else []
        if files:
            tables.append(self.store.read_files(kept.table, files, [name for name in kept.columns() if name != "of"]))
        # Columns of files may be null, those that were made for this call need not.
        in_order = [each.select(tables[-1].column_names) for each in tables]
        return pa.concat_tables(in_order, promote_options="default")

    def _made(self, daily: Daily, days: Iterable[date]) -> DataFrame:
        chosen = sorted(days)
        frames = [
            self.read(name, [file for day in chosen for file in self.files[name].get(day, ())])
            for name in daily.sources
        ]
        if self.since is not None:
            frames = [frame.where(F.col("started_at") >= F.lit(self.since)) for frame in frames]
        return daily.make(*frames)

    def _keep(self, kept: KeptDays, of: Mapping[date, str], daily: Daily) -> list[str]:
        """Make days and keep them; return the addresses of the files. Raise StoreError."""
        made = self._made(daily, of)
        name = uuid.uuid4().hex
        written = made.withColumn(_DAY, F.col("date")).repartition(_DAY)
        written.write.partitionBy(_DAY).parquet(f"{kept.address}/{name}")
        parts = list(_written(self.spark, kept.address, name))
        kept.replace(of, parts, made.withColumn("of", F.lit("")).schema.json())
        return [f"{kept.address}/{part.path}" for part in parts]


def _written(spark: SparkSession, address: str, name: str) -> Iterable[Part]:
    """Yield the files that Spark wrote into a folder, one for each day or more."""
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(f"{address}/{name}")
    files = path.getFileSystem(spark._jsc.hadoopConfiguration()).listFiles(path, True)
    while files.hasNext():
        file = files.next()
        folder, file_name = file.getPath().getParent().getName(), file.getPath().getName()
        if file_name.endswith(".parquet"):
            day = date.fromisoformat(folder.removeprefix(f"{_DAY}="))
            yield Part(day, f"{name}/{folder}/{file_name}", file.getLen(), file.getModificationTime())
