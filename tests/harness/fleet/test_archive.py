"""The archive of `make dist` on a Spark cluster of processes: the plans run with its Python, and not with this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS
from tests.harness.fleet.test_fleet import wait_for
from tests.results.mining.conftest import SLOW
from tests.spark_daemons import HOME, daemon

ROOT = Path(__file__).parents[3]
BUILT, DONE = 900.0, 1500.0
"""Seconds for the archive, and for the campaign, after which they are killed."""


@pytest.mark.integration
@SLOW
def test_executors_run_plans_with_what_the_archive_has(tmp_path: Path) -> None:
    dist, work, output = tmp_path / "dist", tmp_path / "work", tmp_path / "output"
    subprocess.run([sys.executable, ROOT / ".ci" / "fleet-archive", dist], check=True, timeout=BUILT)
    local = ("--host", "127.0.0.1", "--webui-port", "0")
    ready, up = r"spark://127.0.0.1:\d+", r"Successfully registered with master"
    with daemon(tmp_path / "master", "master.Master", *local, "--port", "0", ready=ready) as (master, _):
        options = (*local, "--cores", "1", "--memory", "700m", "--work-dir", str(work), master)
        with daemon(tmp_path / "worker", "worker.Worker", *options, ready=up) as (_, worker):
            submit = [str(HOME / "bin" / "spark-submit"), "--archives", f"{dist / 'fencepost-fleet.tar.gz'}#fleet"]
            submit += ["--conf", "spark.pyspark.python=./fleet/bin/python"]
            submit += ["--conf", f"spark.pyspark.driver.python={sys.executable}", str(dist / "fleet.py")]
            submit += ["campaign", "quorum", "--on", master, "--seed", "4", "--plans", "1"]
            submit += ["--runs", str(tmp_path / "runs"), "--publish", str(tmp_path / "store")]
            environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK", "SPARK"))}
            with (
                output.open("wb") as written,
                subprocess.Popen(
                    submit, stdout=written, stderr=written, env=environment, preexec_fn=end_on_interrupt
                ) as driver,
            ):
                wait_for(lambda: programs(worker), driver)
                running = programs(worker)
                assert driver.wait(DONE) in (0, 3), output.read_text()
    assert all(each.is_relative_to(work) for each in running), running
    assert Store.open(str(tmp_path / "store")).rows(RUNS) == 1


def programs(worker: subprocess.Popen[bytes]) -> list[Path]:
    """Return the programs of the runs and of their nodes on a worker."""
    found = []
    for each in psutil.Process(worker.pid).children(recursive=True):
        try:
            if any(part.startswith("fencepost.") for part in each.cmdline()):
                found.append(Path(each.exe()))
        except psutil.NoSuchProcess:
            continue
    return found if len(found) > 1 else []
