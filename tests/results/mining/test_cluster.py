"""The archive of `make dist` on a Spark cluster of separate processes: the same results as in local mode."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer

import pytest
from pyspark.sql import SparkSession

from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.results.mining.driver_rows import as_frame
from fencepost.results.mining.jobs import JOBS, Scope, read_evidence
from fencepost.results.mining.synthesize import make_truth, synthesize
from fencepost.results.store.store import Store
from tests.results.mining.conftest import SLOW
from tests.spark_daemons import HOME, QUICK, daemon

ROOT = Path(__file__).parents[3]
DONE = 600.0
"""Seconds for all jobs, after which the driver is killed."""
FILLED = ("flakiness", "reached")
"""Jobs that certainly have rows."""
LOST_AFTER = 3
"""The worker is killed after this many jobs."""


@pytest.mark.integration
@SLOW
def test_a_cluster_that_loses_a_worker_computes_what_local_mode_computes(spark: SparkSession, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    synthesize(store, make_truth(40, 4, 5, 1), 1)
    dist = tmp_path / "dist"
    subprocess.run([sys.executable, ROOT / ".ci" / "mining-archive", dist], check=True, timeout=120)
    local, bind = ("--host", "127.0.0.1", "--webui-port", "0"), ("--port", "0")
    with daemon(tmp_path / "master", "master.Master", *local, *bind, ready=r"spark://127.0.0.1:\d+") as (master, _):
        worker = (*local, "--cores", "1", "--memory", "512m", "--work-dir", str(tmp_path / "work"), master)
        up = r"Successfully registered with master"
        with (
            daemon(tmp_path / "worker-1", "worker.Worker", *worker, ready=up) as (_, first),
            daemon(tmp_path / "worker-2", "worker.Worker", *worker, ready=up),
        ):
            done = list(submitted(master, dist, store, tmp_path / "out", lose=first))
    assert done == list(JOBS)
    executors = {path.name for path in (tmp_path / "work").glob("app-*/*")}
    assert executors == {"0", "1"}
    evidence = read_evidence(spark, store, Scope(datetime.now(UTC)))
    for name, job in JOBS.items():
        here = [rounded(row) for row in as_frame(spark, job(evidence)).collect()]
        there = [rounded(row) for row in spark.read.parquet(str(tmp_path / "out" / name)).collect()]
        assert sorted(there) == sorted(here), name
        assert here or name not in FILLED, name


def submitted(master: str, dist: Path, store: Store, out: Path, lose: subprocess.Popen[bytes]) -> Iterator[str]:
    """Submit all jobs to the cluster; yield the name of each that is done, and kill a worker after some of them."""
    conf = {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": QUICK,
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "WARN",
    }
    submit = [str(HOME / "bin" / "spark-submit"), "--master", master, "--driver-java-options", QUICK]
    submit += [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    submit += ["--py-files", str(dist / "fencepost-mining.zip"), str(dist / "main.py"), store.name, "--out", str(out)]
    submit += ["--rebuild"]  # else days of so small a store are not kept
    # Neither this source tree nor its variables help the driver: the archive has all that it imports.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK", "SPARK"))}
    environment |= {"PYSPARK_PYTHON": sys.executable, "PYTHONSAFEPATH": "1"}
    errors = out.with_name("errors")
    with (
        errors.open("wb") as output,
        subprocess.Popen(
            submit, cwd=dist, env=environment, stdout=subprocess.PIPE, stderr=output, preexec_fn=end_on_interrupt
        ) as driver,
    ):
        limit = Timer(DONE, driver.kill)
        limit.start()
        try:
            assert driver.stdout is not None
            for number, line in enumerate(driver.stdout, 1):
                if number == LOST_AFTER:
                    lose.kill()
                yield line.decode().partition(":")[0]
        finally:
            limit.cancel()
    assert driver.returncode == 0, errors.read_text()[-3000:]


def rounded(row: object) -> str:
    """Return a row as text; the last digits of a sum depend on the order of its parts."""
    assert isinstance(row, tuple)
    return repr([round(each, 9) if isinstance(each, float) else each for each in row])
