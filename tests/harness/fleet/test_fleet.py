"""A campaign on a Spark cluster of processes that loses an executor and its driver: each plan judged, the defect found.

Half of all plans ask for what the planted defect does not refuse, and so does the first one. Shrinking takes minutes.
"""

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

from fencepost.harness.plan import load_plan
from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.results.records.verdict import Verdict
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS
from tests.harness.seeds import seed_of_a_plan_that_expects
from tests.results.mining.conftest import SLOW
from tests.spark_daemons import daemon

PLANS, PER_ROUND = 6, 3
DEFECT, BROKEN = "unknown.offset_metadata_of_any_length", "CRD-02"
DONE = 3000.0
"""Seconds for the campaign, after which its driver is killed."""


@pytest.mark.integration
@SLOW
def test_a_campaign_that_loses_an_executor_and_its_driver_has_each_plan_once_and_finds_the_defect(
    tmp_path: Path,
) -> None:
    seed = str(seed_of_a_plan_that_expects("error:12", "quorum"))
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
            asked = ["--on", master, "--seed", seed, "--plans", f"{PLANS}", "--plans-per-round", f"{PER_ROUND}"]
            asked += ["--mutant", DEFECT, "--runs", str(runs), "--publish", str(store)]
            with driven(asked, tmp_path / "first") as driver:
                wait_for(lambda: executors_of(first) and judged(tmp_path / "first"), driver)
                for executor in executors_of(first):
                    executor.kill()
                wait_for(lambda: "round 2 " in (tmp_path / "first").read_text(), driver)
                driver.kill()
            [campaign] = runs.glob("campaign-*")
            with driven([*asked, "--resume", str(campaign)], tmp_path / "second") as driver:
                assert driver.wait(DONE) == Verdict.VIOLATION.exit_code, (tmp_path / "second").read_text()
    summary = json.loads((campaign / "summary.json").read_text())
    assert [each["number"] for each in summary["outcomes"]] == list(range(1, PLANS + 1))
    rows = Store.open(str(store)).read(RUNS, ["scenario"])["scenario"].to_pylist()
    assert Counter(rows) == {f"random-{each['seed']}": 1 for each in summary["outcomes"]}
    cause = next(each for each in summary["causes"] if BROKEN in each["signature"]["broken"])
    assert cause["failed"] == cause["runs"] == 6, "it is certain"
    assert cause["complete"] and Path(cause["bundle"]).is_file()
    smallest, found_by = load_plan(Path(cause["smallest"])), load_plan(campaign / cause["name"] / "plan.yaml")
    assert len(smallest.steps) < len(found_by.steps) / 4


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
