"""A first task tries what plans need on an executor; one that is left out gets no plan of a Spark cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.faults.capabilities import Capability
from fencepost.harness.fleet.executors import Abilities, ask, machine, missing, tried
from fencepost.harness.fleet.fleet import spark_context
from fencepost.harness.fleet.task import Delivered, Task, perform
from tests.results.mining.conftest import SLOW
from tests.spark_daemons import daemon

HERE = "quorum:1", "process"


def test_what_one_executor_lacks_no_plan_has() -> None:
    of_all = {Capability.NETWORK: "no containers"}
    answers = [Abilities("a", None, of_all), Abilities("b", None, {**of_all, Capability.DISKS: "no FUSE"})]
    assert missing(answers) == {Capability.NETWORK: "no containers", Capability.DISKS: "b: no FUSE"}


@pytest.mark.integration
def test_an_executor_without_toxiproxy_gets_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(*HERE).unfit is None
    monkeypatch.setenv("FENCEPOST_TOXIPROXY", "/nonexistent")
    assert "FENCEPOST_TOXIPROXY=/nonexistent is no program" in (tried(*HERE).unfit or "")


@pytest.mark.integration
def test_an_executor_with_too_little_memory_gets_no_plan(starved: Callable[[], str]) -> None:
    assert "MB are available, and a plan takes 100000000" in (tried(starved(), "process").unfit or "")


@pytest.fixture
def starved(tmp_path: Path) -> Callable[[], str]:
    """Return a function that makes a target whose clusters take more memory than machines have."""

    def make() -> str:
        file = tmp_path / "starved.yaml"
        file.write_text("name: starved\nextends: quorum\ntitle: a large one\nmemory_mb: 100000000\n")
        return str(file)

    return make


@pytest.mark.integration
@SLOW
def test_each_executor_is_asked_and_the_plans_go_to_those_that_are_not_left_out(tmp_path: Path) -> None:
    local = ("--host", "127.0.0.1", "--webui-port", "0")
    ready = r"spark://127.0.0.1:\d+"
    with daemon(tmp_path / "master", "master.Master", *local, "--port", "0", ready=ready) as (master, _):
        worker = (*local, "--cores", "1", "--memory", "700m", "--work-dir", str(tmp_path / "work"), master)
        up = r"Successfully registered with master"
        with (
            daemon(tmp_path / "worker-1", "worker.Worker", *worker, ready=up),
            daemon(tmp_path / "worker-2", "worker.Worker", *worker, ready=up),
            spark_context(master, 1) as spark,
        ):
            one, other = (each.machine for each in ask(spark, 1, *HERE))
            of_plan = 1, "a plan", 60.0, "no: plan", "process", False, str(tmp_path / "campaign")
            tasks = [Task(each, f"plan-{each}", *of_plan, left_out=frozenset({one})) for each in range(6)]
            found: list[Delivered] = spark.parallelize(tasks, len(tasks)).map(perform).collect()
    assert {each.machine for each in found} == {other}
    assert [each.number for each in found] == list(range(6))
    assert machine() not in (one, other)
