"""docker/spark/cluster: a standalone cluster in containers runs the mining jobs of `make dist`."""

from __future__ import annotations

import faulthandler
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fencepost.results.mining.synthesize import make_truth, synthesize
from fencepost.results.store.store import Store

ROOT = Path(__file__).parents[4]
SCRIPT = ROOT / "docker" / "spark" / "cluster"
NAME = f"fencepost-spark-test-{os.getpid()}"
TESTS = 20


def cluster(*arguments: str | Path, dist: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FENCEPOST_SPARK": NAME, "PYTHON": sys.executable, "MINING_DIST": str(dist)}
    return subprocess.run(
        [SCRIPT, *arguments], env=environment, capture_output=True, text=True, timeout=1500, check=False
    )


def containers() -> list[str]:
    listed = ["docker", "ps", "--all", "--format", "{{.Names}}", "--filter", f"label=fencepost.spark={NAME}"]
    return sorted(subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split())


@pytest.fixture
def started(an_engine: None, tmp_path: Path) -> Iterator[Path]:
    """The folder that the cluster shares."""
    # The image has 600 MB: to build it may take longer than a test may. Each command has a limit of its own.
    faulthandler.cancel_dump_traceback_later()
    try:
        done = cluster("start", tmp_path)
        assert done.returncode == 0, done.stderr
        yield tmp_path
    finally:
        cluster("stop")


@pytest.mark.integration
@pytest.mark.skipif(
    "FENCEPOST_TEST_SPARK_IMAGE" not in os.environ,
    reason="it builds an image of 600 MB, for which other tests would wait: set FENCEPOST_TEST_SPARK_IMAGE=1",
)
def test_two_workers_mine_a_store_and_stop_leaves_nothing(started: Path) -> None:
    synthesize(Store.create(str(started / "store")), make_truth(TESTS, 3, 2, 1), 1)
    subprocess.run([sys.executable, ROOT / ".ci" / "mining-archive", started / "dist"], check=True, timeout=300)
    assert containers() == [f"{NAME}-master", f"{NAME}-worker-1", f"{NAME}-worker-2"]
    submit = ("submit", started / "store", "--out", started / "mined", "--only", "flakiness")
    done = cluster(*submit, dist=started / "dist")
    assert done.returncode == 0, done.stderr[-3000:]
    mined = pq.read_table(started / "mined" / "flakiness")
    assert (mined.num_rows, sum(mined["runs"].to_pylist())) == (TESTS, TESTS * 3 * 2)
    assert cluster("stop").returncode == 0
    assert containers() == []


def test_a_wrong_call_names_the_right_ones(tmp_path: Path) -> None:
    done = cluster("begin")
    assert (done.returncode, "start FOLDER, submit STORE --out RESULTS, or stop" in done.stderr) == (2, True)
    done = cluster("start", tmp_path / "nothing")
    assert (done.returncode, "there is no folder" in done.stderr) == (2, True)
