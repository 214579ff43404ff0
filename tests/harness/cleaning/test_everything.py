"""`clean --all` finds dead runs by their leftovers alone, and takes no living run for a dead one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fencepost.harness.cleaning import cleanup, containers, processes
from fencepost.harness.cleaning.cleanup import clean_all
from fencepost.harness.cleaning.leftover import Leftover
from fencepost.harness.cli.main import run_command
from fencepost.harness.network.lease import Lease
from fencepost.harness.processes import table
from fencepost.harness.processes.records import HARNESS, RUN, TOKEN, ProcessRecords
from tests.harness.processes.test_records import await_environment

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def mine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases of its own, and of all processes only those whose run was here: others test on this machine, too."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))

    def here() -> Iterator[tuple[Path, Leftover]]:
        return (each for each in processes.without_records() if each[0].is_relative_to(tmp_path))

    monkeypatch.setattr(cleanup, "STAMPED", ((here, processes.remove),))


@pytest.fixture
def dead() -> str:
    """The id of a harness that died."""
    with subprocess.Popen(["true"]) as ended:
        boot, namespace, _, _ = table.own_harness_id().split("/")
    return f"{boot}/{namespace}/{ended.pid}/1"


def test_processes_of_a_dead_run_are_ended_though_its_folder_is_gone(tmp_path: Path, dead: str) -> None:
    with ExitStack() as stack:

        def start(run: str, harness: str) -> subprocess.Popen[bytes]:
            environment = {**os.environ, TOKEN: "t", RUN: str(tmp_path / run), HARNESS: harness}
            process = stack.enter_context(subprocess.Popen(["sleep", "60"], env=environment))
            stack.callback(process.kill)
            await_environment(process.pid, RUN)
            return process

        orphan = start("gone", dead)
        of_the_living = start("lives", table.own_harness_id())
        unsigned = start("unsigned", "")
        of_another_boot = start("elsewhere", f"another/{dead.partition('/')[2]}")
        [found], _ = clean_all()
        assert (found.run, [each.id for each in found.found]) == (tmp_path / "gone", [f"pid {orphan.pid}"])
        assert orphan.wait(10) == -9
        for process in (of_the_living, unsigned, of_another_boot):
            assert process.poll() is None


def test_a_run_whose_lease_is_held_is_alive_whatever_a_process_says(tmp_path: Path, dead: str) -> None:
    run = tmp_path / "run"
    environment = {**os.environ, TOKEN: "t", RUN: str(run), HARNESS: dead}
    with Lease.acquire(run, lambda addresses: []), subprocess.Popen(["sleep", "60"], env=environment) as process:
        assert clean_all() == ([], [])
        process.kill()


def test_where_there_are_records_they_decide(tmp_path: Path, dead: str) -> None:
    run = tmp_path / "run"
    run.mkdir()
    stamp = ProcessRecords(run / "processes.jsonl").intend("node-4", ["sleep"]) | {HARNESS: dead}
    with (
        subprocess.Popen(["sleep", "60"], env={**os.environ, **stamp}) as recorded,
        subprocess.Popen(["sleep", "60"], env={**os.environ, **stamp, TOKEN: "forged"}) as forged,
    ):
        for process in (recorded, forged):
            await_environment(process.pid, TOKEN)
        [found], _ = clean_all(dry_run=True)
        assert [each.id for each in found.found] == [f"pid {recorded.pid}"]
        shutil.rmtree(run)
        recorded.kill()
        forged.kill()


def test_what_runs_still_goes_before_the_addresses_of_a_run_whose_folder_is_gone(tmp_path: Path, dead: str) -> None:
    run = tmp_path / "gone"
    died = "import os, pathlib, sys; from fencepost.harness.network.lease import Lease; "
    died += "Lease.acquire(pathlib.Path(sys.argv[1]), lambda addresses: []); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", died, str(run)], check=False)
    environment = {**os.environ, TOKEN: "t", RUN: str(run), HARNESS: dead}
    with subprocess.Popen(["sleep", "60"], env=environment) as orphan:
        await_environment(orphan.pid, RUN)
        [would], _ = clean_all(dry_run=True)
        [found], _ = clean_all()
        assert orphan.wait(10) == -9
    assert [each.kind for each in would.found] == [each.kind for each in found.found] == ["process", "addresses"]
    assert clean_all() == ([], [])


def test_without_an_engine_the_rest_is_cleaned_and_that_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/absent.sock")
    monkeypatch.setattr(cleanup, "STAMPED", ((containers.without_records, containers.remove),))
    with pytest.raises(SystemExit) as ended:
        run_command(["clean", "--all"])
    said = capsys.readouterr()
    assert ended.value.code == 0
    assert said.out == "nothing was left behind\n"
    assert said.err.startswith("not looked for: no container engine answers")
