"""`fencepost clean` ends what a crashed run left, and nothing else."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.harness.cleaning.cleanup import clean, left_behind
from fencepost.harness.errors import UsageError
from fencepost.harness.network.lease import Lease
from fencepost.harness.processes import table
from fencepost.harness.processes.records import ProcessRecords
from fencepost.harness.processes.table import Identity

pytestmark = pytest.mark.integration

CRASHING_HARNESS = """
import sys, time
from pathlib import Path
from fencepost.harness.processes.command import Command
from fencepost.harness.backends.process import ProcessBackend
from fencepost.harness.network.lease import Lease
run = Path(sys.argv[1])
lease = Lease.acquire(run, lambda addresses: [])
backend = ProcessBackend(run / "processes.jsonl", run)
for node in ("node-1", "node-2"):
    backend.start(node, Command(["sleep", "60"]))
backend.pause("node-2")
(run / "journal.jsonl").write_text("torn li")
(run / "control.sock").touch()
print(lease.addresses.k, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))


@pytest.fixture
def crashed(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A run folder whose harness was killed with two nodes alive, and the k it had leased."""
    run = tmp_path / "run"
    run.mkdir()
    with subprocess.Popen([sys.executable, "-c", CRASHING_HARNESS, str(run)], stdout=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        k = int(it.stdout.readline())
        it.kill()
    yield run, k
    clean(run)


def test_the_processes_and_the_lease_of_a_killed_harness_go_and_its_journal_stays(crashed: tuple[Path, int]) -> None:
    run, k = crashed
    assert left_behind() == [run]
    cleaned = clean(run)
    assert sorted(each.what for each in cleaned.of("process")) == ["node-1", "node-2"]
    assert [each.id for each in cleaned.of("addresses")] == [f"127.{k}.*"]
    assert [each for each in cleaned.of("process") if table.is_alive(each.handle)] == []
    assert left_behind() == []
    assert (run / "journal.jsonl").read_text() == "torn li"
    assert not (run / "control.sock").exists()
    assert clean(run).found == ()


def test_a_dry_run_touches_nothing(crashed: tuple[Path, int]) -> None:
    run, _ = crashed
    found = clean(run, dry_run=True)
    assert clean(run, dry_run=True) == found
    assert len(found.of("process")) == 2


def test_addresses_whose_nodes_still_live_are_not_leased_again(
    crashed: tuple[Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, k = crashed
    monkeypatch.setattr("fencepost.harness.network.lease.FIRST_K", k)
    monkeypatch.setattr("fencepost.harness.network.lease.LAST_K", k + 1)
    with Lease.acquire(tmp_path / "next", lambda addresses: []) as lease:
        assert lease.addresses.k == k + 1


def test_a_process_that_got_a_recycled_pid_survives(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as decoy:
        identity = table.identify(decoy.pid)
        assert identity is not None
        records = ProcessRecords(tmp_path / "processes.jsonl")
        token = records.intend("node-4", ["sleep"])["FENCEPOST_TOKEN"]
        records.started(token, Identity(decoy.pid, identity.start_time - 100))
        assert clean(tmp_path).found == ()
        assert table.is_alive(identity)
        decoy.send_signal(signal.SIGKILL)


def test_a_run_that_goes_on_is_left_alone(tmp_path: Path) -> None:
    with Lease.acquire(tmp_path, lambda addresses: []):
        assert left_behind() == []
        with pytest.raises(UsageError, match="still running"):
            clean(tmp_path)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no processes\.jsonl"):
        clean(tmp_path)
