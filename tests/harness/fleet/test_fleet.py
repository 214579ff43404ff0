"""A campaign on a Spark cluster of processes that loses an executor and its driver: one result for each plan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS
from tests.results.mining.conftest import SLOW
from tests.spark_daemons import daemon

PLANS, PER_ROUND = 10, 4
DONE = 1500.0
"""Seconds for the campaign, after which its driver is killed."""


@pytest.mark.integration
@SLOW
def test_a_campaign_that_loses_an_executor_and_its_driver_has_each_plan_once(tmp_path: Path) -> None:
    local = ("--host", "127.0.0.1", "--webui-port", "0")
    runs, store = tmp_path / "runs", tmp_path / "store"
    with daemon(tmp_path / "master", "master.Master", *local, "--port", "0", ready=r"spark://127.0.0.1:\d+") as (
        master,
        _,
    ):
        worker = (*local, "--cores", "1", "--memory", "700m", "--work-dir", str(tmp_path / "work"), master)
        up = r"Successfully registered with master"
        with (
            daemon(tmp_path / "worker-1", "worker.Worker", *worker, ready=up) as (_, first),
            daemon(tmp_path / "worker-2", "worker.Worker", *worker, ready=up),
        ):
            asked = ["--on", master, "--seed", "7", "--plans", str(PLANS), "--plans-per-round", str(PER_ROUND)]
            asked += ["--runs", str(runs), "--publish", str(store)]
            with driven(asked, tmp_path / "first") as driver:
                wait_for(lambda: executors_of(first) and judged(tmp_path / "first"), driver)
                for executor in executors_of(first):
                    executor.kill()
                wait_for(lambda: "round 2 " in (tmp_path / "first").read_text(), driver)
                driver.kill()
            [campaign] = runs.glob("campaign-*")
            with driven([*asked, "--resume", str(campaign)], tmp_path / "second") as driver:
                assert driver.wait(DONE) in (0, 3), (tmp_path / "second").read_text()
    summary = json.loads((campaign / "summary.json").read_text())
    assert [each["number"] for each in summary["outcomes"]] == list(range(1, PLANS + 1))
    rows = Store.open(str(store)).read(RUNS, ["scenario"])["scenario"].to_pylist()
    assert Counter(rows) == {f"random-{each['seed']}": 1 for each in summary["outcomes"]}


def driven(asked: list[str], output: Path) -> subprocess.Popen[bytes]:
    """Start a driver of the campaign."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK", "SPARK"))}
    argv = [str(Path(sys.executable).with_name("fencepost")), "campaign", "quorum", *asked]
    with output.open("wb") as written:
        return subprocess.Popen(argv, stdout=written, stderr=written, env=environment, preexec_fn=end_on_interrupt)


def executors_of(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(worker.pid).children()


def judged(output: Path) -> bool:
    return any(line.startswith(("pass", "violation", "inconclusive")) for line in output.read_text().splitlines())


def wait_for(condition: Callable[[], object], driver: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + DONE
    while not condition():
        assert driver.poll() is None and time.monotonic() < until
        time.sleep(0.1)
