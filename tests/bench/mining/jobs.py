"""All jobs over one store, in a process of its own: `python -m tests.bench.mining.jobs STORE OUT spark|duckdb`.

Each result goes to Parquet in OUT. Prints a JSON line for each job: its name, its seconds, and the processor seconds of
this process and its children, which depend less on what else the machine does.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
from deltalake import DeltaTable

from fencepost.results.store.store import Store
from fencepost.results.store.tables import FAULTS, FINDINGS, REQUIREMENTS, RUNS, TIMINGS
from tests.bench.mining.duckdb_tables import QUERIES, VIEWS

READ = (RUNS, FINDINGS, FAULTS, TIMINGS, REQUIREMENTS)
MEMORY = os.environ.get("FENCEPOST_BENCH_MEMORY", "6g")
CORES = os.environ.get("FENCEPOST_BENCH_CORES", "2")


def spent() -> float:
    """Return the processor seconds of this process and its children, such as the JVM."""
    here = psutil.Process()
    times = [each.cpu_times() for each in (here, *here.children(recursive=True))]
    return sum(each.user + each.system for each in times)


@contextmanager
def measured(name: str) -> Iterator[None]:
    """Print what the block took."""
    began, before = time.monotonic(), spent()
    yield
    print(json.dumps([name, time.monotonic() - began, spent() - before]), flush=True)


def by_spark(store: Store, out: Path) -> None:
    # Imported here, because the DuckDB process measures its memory without them.
    import pyarrow.parquet as pq
    from pyspark.sql import SparkSession

    from fencepost.results.mining.jobs import JOBS, Keep, Scope, read_evidence
    from fencepost.results.mining.launch import LARGE, submit_arguments

    arguments = submit_arguments(f"local[{CORES}]", max(LARGE, store.rows(RUNS)), MEMORY)
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--conf spark.local.dir={out} {arguments}"
    with measured("start"):
        spark = SparkSession.builder.appName("bench-mining").getOrCreate()
        rules = [(f"SYN-{n:02}", "says", "synthetic") for n in range(60)]
        spark.range(1).collect()
    with measured("days"):
        scope = Scope(datetime(2026, 6, 1, tzinfo=UTC) + timedelta(days=60))
        evidence = read_evidence(spark, store, scope, rules, Keep.ANEW)
    for name, job in ((name, job) for name, job in JOBS.items() if name in QUERIES):
        with measured(name):
            pq.write_table(job(evidence), out / name)
    spark.stop()


def by_duckdb(store: Store, out: Path) -> None:
    # Imported here, because the Spark process measures its memory without it.
    import duckdb

    with measured("start"):
        connection = duckdb.connect()
        connection.execute(f"set threads = {CORES}; set timezone = 'UTC'; set temp_directory = '{out}'")
        for table in READ:
            files = DeltaTable(store.at(table)).file_uris()
            connection.execute(f"create view {table.name} as from read_parquet({files}, hive_partitioning = true)")
        for view in VIEWS:
            connection.execute(view)
    jobs = connection.execute("select count(distinct ci_url) from runs").fetchall()[0][0]
    for name, query in QUERIES.items():
        with measured(name):
            query = query.replace("{occasions}", str(jobs))
            connection.execute(f"copy ({query}) to '{out / name}.parquet' (format parquet)")


def main() -> None:
    address, out, engine = sys.argv[1:]
    Path(out).mkdir(parents=True, exist_ok=True)
    run = {"spark": by_spark, "duckdb": by_duckdb}[engine]
    run(Store.open(address), Path(out).absolute())


if __name__ == "__main__":
    main()
