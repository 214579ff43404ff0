"""Processes are started, ended, stopped and continued, and the process table agrees each time."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.faults.capabilities import ProcessStatus, Running
from fencepost.harness.backends.process import ProcessBackend
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.processes import table
from fencepost.harness.processes.command import Command
from fencepost.harness.processes.records import read_records
from tests.waiting import eventually

pytestmark = pytest.mark.integration

SLEEP = Command(["sleep", "60"])


class Exits:
    """Collects what the backend reports of processes that ended by themselves."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.changed = threading.Event()

    def __call__(self, name: str, code: int) -> None:
        self.seen.append((name, code))
        self.changed.set()


@pytest.fixture
def exits() -> Exits:
    return Exits()


@pytest.fixture
def backend(tmp_path: Path, exits: Exits) -> Iterator[ProcessBackend]:
    backend = ProcessBackend(tmp_path / "processes.jsonl", tmp_path, exits)
    yield backend
    backend.stop_all()


def _until_logged(path: Path, text: str) -> None:
    eventually(lambda: text in path.read_text(), f"{path} holds {text!r}")


def test_a_node_leads_its_own_session_and_carries_its_token(backend: ProcessBackend, tmp_path: Path) -> None:
    identity = backend.start("node-1", Command([sys.executable, "-c", "import os; print(os.getsid(0))"]))
    _until_logged(tmp_path / "node-1.log", str(identity.pid))
    (record,) = read_records(tmp_path / "processes.jsonl")
    assert (record.node, record.identity) == ("node-1", identity)


def test_the_environment_is_ours_and_the_command_s_and_names_run_and_node(
    backend: ProcessBackend, tmp_path: Path
) -> None:
    identity = backend.start("node-1", Command(["sh", "-c", "echo up; sleep 60"], {"COLOUR": "red"}))
    _until_logged(tmp_path / "node-1.log", "up")
    environment = table.environment(identity.pid)
    assert environment["COLOUR"] == "red"
    assert environment["PATH"] == os.environ["PATH"]
    assert (environment["FENCEPOST_RUN"], environment["FENCEPOST_NODE"]) == (str(tmp_path), "node-1")


def test_kill_takes_the_whole_group_with_it(backend: ProcessBackend, tmp_path: Path, exits: Exits) -> None:
    backend.start("node-1", Command(["sh", "-c", "sleep 60 & echo $!; wait"]))
    _until_logged(tmp_path / "node-1.log", "\n")
    child = int((tmp_path / "node-1.log").read_text())
    backend.kill("node-1")
    assert table.identify(child) is None
    status = backend.status("node-1")
    assert (status.running, status.exit_code) == (Running.EXITED, -9)
    assert exits.seen == []


def test_pause_stops_every_thread_and_resume_continues_them(backend: ProcessBackend) -> None:
    threads = "import threading, time; [threading.Thread(target=time.sleep, args=[60]).start() for _ in range(4)]"
    identity = backend.start("node-1", Command([sys.executable, "-c", threads]))
    deadline = time.monotonic() + 30
    while len(table.thread_states(identity.pid)) < 5:
        assert time.monotonic() < deadline
    backend.pause("node-1")
    assert set(table.thread_states(identity.pid)) == {"T"}
    assert backend.status("node-1").running is Running.PAUSED
    backend.resume("node-1")
    assert "T" not in table.thread_states(identity.pid)
    assert backend.status("node-1").running is Running.RUNNING


def test_a_paused_node_can_be_killed(backend: ProcessBackend) -> None:
    backend.start("node-1", SLEEP)
    backend.pause("node-1")
    backend.kill("node-1")
    assert backend.status("node-1").running is Running.EXITED


def test_a_node_that_ends_by_itself_is_reported_with_the_last_lines_of_its_log(
    backend: ProcessBackend, exits: Exits
) -> None:
    backend.start("node-1", Command(["sh", "-c", "seq 100; echo 'no such cluster' >&2; exit 3"]))
    assert exits.changed.wait(5)
    assert exits.seen == [("node-1", 3)]
    said = backend.exit_summary("node-1")
    assert "node-1 ended with exit code 3" in said
    assert said.endswith("| no such cluster")
    assert "| 50\n" not in said


def test_what_is_said_of_an_end_is_said_before_the_next_start(tmp_path: Path) -> None:
    may_tell = threading.Event()
    said: list[str] = []

    def tell(name: str, code: int) -> None:
        may_tell.wait(5)
        said.append(nodes.exit_summary(name))

    nodes = ProcessBackend(tmp_path / "processes.jsonl", tmp_path, tell)
    nodes.start("node-1", Command(["sh", "-c", "exit 3"]))
    assert nodes.await_end("node-1", 5)
    telling = threading.Timer(0.05, may_tell.set)
    telling.start()
    nodes.start("node-1", SLEEP)
    nodes.stop_all()
    telling.join()
    assert [each.partition(";")[0] for each in said] == ["node-1 ended with exit code 3"]


def test_a_node_can_be_started_again_after_its_end_and_only_then(backend: ProcessBackend) -> None:
    first = backend.start("node-1", SLEEP)
    with pytest.raises(InfrastructureError, match="is already running"):
        backend.start("node-1", SLEEP)
    backend.kill("node-1")
    assert backend.start("node-1", SLEEP) != first


def test_what_does_not_run_cannot_be_broken(backend: ProcessBackend) -> None:
    assert backend.status("node-1") == ProcessStatus(Running.NEVER_STARTED)
    for change in (backend.kill, backend.pause, backend.resume):
        with pytest.raises(InfrastructureError, match="node-1 is not running"):
            change("node-1")


def test_a_program_that_does_not_exist_is_an_error_with_a_message(backend: ProcessBackend) -> None:
    with pytest.raises(InfrastructureError, match=r"node-1 could not be started: .*no-such-program"):
        backend.start("node-1", Command(["no-such-program"]))


def test_stop_all_ends_paused_and_running_nodes(backend: ProcessBackend) -> None:
    identities = [backend.start(name, SLEEP) for name in ("node-1", "node-2", "node-3")]
    backend.pause("node-2")
    backend.kill("node-3")
    backend.stop_all()
    assert not any(map(table.is_alive, identities))


def test_nothing_survives_an_exception_in_the_harness(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from contextlib import closing\n"
        "from fencepost.harness.backends.backend import Command\n"
        "from fencepost.harness.backends.process import ProcessBackend\n"
        "folder = Path(sys.argv[1]); backend = ProcessBackend(folder / 'processes.jsonl', folder)\n"
        "try: backend.start('node-1', Command(['sleep', '60'])); raise KeyboardInterrupt\n"
        "finally: backend.stop_all()\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False, stderr=subprocess.DEVNULL)
    (record,) = read_records(tmp_path / "processes.jsonl")
    assert record.identity is not None
    assert not table.is_alive(record.identity)
