"""All jobs over one store, each result as a folder of Parquet files: what `main.py` does on a cluster.

Neither the master nor anything else of the Spark cluster is set here: spark-submit does. The driver reads the log of
each table of the store, and the executors read its files and write the results: all need to reach both addresses.
Executors need no Python package: no job has a function of Python for its rows.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from fencepost.results.mining.driver_rows import as_frame
from fencepost.results.mining.jobs import JOBS, REBUILD, Scope, keep, naming_damage, read_evidence
from fencepost.results.store.errors import DamagedStore, NewerStore, NotAStore, StoreError
from fencepost.results.store.store import Store

FAILED, WRONG_USAGE, DAMAGED = 2, 64, 65
"""Exit codes, those of the command `fencepost`."""
CHECKPOINTS = "_checkpoints"
"""The folder in the output where jobs keep what they use more than once, until all are done."""


def main(argv: Sequence[str]) -> int:
    """Run the jobs; return 0, WRONG_USAGE for a wrong store or output folder, FAILED if the store
    cannot be read, DAMAGED if files of it are."""
    parser = argparse.ArgumentParser(prog="main.py", description="Mine a results store.", exit_on_error=False)
    parser.add_argument("store", help="the store: a folder that all machines share, or a URL")
    parser.add_argument("--out", required=True, help="a new folder, or a URL: one folder of Parquet for each job")
    parser.add_argument("--since", type=_day, help="only runs that started on this day or later: 2026-10-01 (UTC)")
    parser.add_argument("--target", help="only runs on this target")
    parser.add_argument(
        "--only", action="append", choices=sorted(JOBS), metavar="JOB", help="only this job; repeatable"
    )
    parser.add_argument("--rebuild", action="store_true", help=REBUILD)
    try:
        given = parser.parse_args(argv)
        store = Store.open(given.store)
    except (argparse.ArgumentError, NotAStore, NewerStore) as error:
        return _say(error, WRONG_USAGE)
    except StoreError as error:
        return _say(error, FAILED)
    out = given.out.rstrip("/") if "://" in given.out else str(Path(given.out).absolute())
    # Days and weeks are those of UTC, whatever the zone of the driver is.
    spark = SparkSession.builder.appName("fencepost-mining").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    try:
        if _exists(spark, out):
            return _say(f"{out} is there already: give a new folder with --out", WRONG_USAGE)
        with naming_damage(store):
            scope = Scope(datetime.now(UTC), given.since, given.target)
            evidence = read_evidence(spark, store, scope, keep=keep(store, anew=given.rebuild))
            # It makes the output folder, so not before the store is known to be readable.
            spark.sparkContext.setCheckpointDir(f"{out}/{CHECKPOINTS}")
            for name in given.only or JOBS:
                as_frame(spark, JOBS[name](evidence)).write.parquet(f"{out}/{name}")
                print(f"{name}: {out}/{name}", flush=True)
        _remove(spark, f"{out}/{CHECKPOINTS}")
    except DamagedStore as error:
        return _say(error, DAMAGED)
    except StoreError as error:
        return _say(error, FAILED)
    finally:
        spark.stop()
    return 0


def _day(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)


def _say(message: object, code: int) -> int:
    print(f"main.py: {message}", file=sys.stderr)
    return code


def _exists(spark: SparkSession, address: str) -> bool:
    files, path = _at(spark, address)
    return bool(files.exists(path))


def _remove(spark: SparkSession, address: str) -> None:
    files, path = _at(spark, address)
    files.delete(path, True)


def _at(spark: SparkSession, address: str) -> tuple[Any, Any]:
    """Return the file system of Hadoop, which reaches whatever Spark reaches, and the path in it."""
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(address)
    return path.getFileSystem(spark._jsc.hadoopConfiguration()), path
