"""Processes are started, ended, stopped and continued, and the process table agrees each time."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fencepost.faults.capabilities import ProcessStatus, Running
from fencepost.harness.backends.process import ProcessBackend
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.processes import table
from fencepost.harness.processes.command import Command
from fencepost.harness.processes.family import ProcessSnapshot
from fencepost.harness.processes.records import read_records
from fencepost.harness.processes.table import Identity
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


HELPERS = """
import os, subprocess, sys
listening = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); print('up', flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", listening])
alone = [sys.executable, "-c", f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {listening!r}], "
         "start_new_session=True); print('pid', p.pid, flush=True)"]
subprocess.run(alone, check=True)  # a grandchild in a session of its own, whose parent ends
print("pid", child.pid, flush=True)
print("main", flush=True)
sys.stdin.close()
%s
"""
"""A node with two helpers that listen, and what it does then."""
WAITING = "import time; time.sleep(600)"


def _with_helpers(backend: ProcessBackend, log: Path, then: str = WAITING) -> list[table.Identity]:
    """Start node-1; return the identities of its helpers."""
    begin = len(log.read_text()) if log.exists() else 0
    backend.start("node-1", Command([sys.executable, "-c", HELPERS % then]))

    def said() -> list[str]:
        return log.read_text()[begin:].split("\n")

    eventually(lambda: said().count("up") == 2 and "main" in said(), "both helpers listen")
    found = [table.identify(int(line.split()[1])) for line in said() if line.startswith("pid")]
    return [each for each in found if each is not None]


def _by_sigterm(backend: ProcessBackend) -> None:
    backend.terminate("node-1")
    assert backend.await_end("node-1", 10)


def _by_a_signal_from_elsewhere(backend: ProcessBackend) -> None:
    os.kill(backend.status("node-1").pid or 0, 9)
    assert backend.await_end("node-1", 10)


@pytest.mark.parametrize(
    "end",
    [_by_sigterm, _by_a_signal_from_elsewhere, lambda backend: backend.kill("node-1"), ProcessBackend.stop_all],
    ids=["SIGTERM", "a signal", "kill", "the end of the run"],
)
def test_helpers_end_with_their_node_whatever_ends_it(
    backend: ProcessBackend, tmp_path: Path, end: Callable[[ProcessBackend], None]
) -> None:
    helpers = _with_helpers(backend, tmp_path / "node-1.log")
    assert len(helpers) == 2
    assert all(map(table.is_alive, helpers))
    end(backend)
    assert not any(map(table.is_alive, helpers))


def test_helpers_of_a_node_that_exits_by_itself_are_gone_when_its_exit_is_reported(tmp_path: Path) -> None:
    alive: list[bool] = []
    reported = threading.Event()
    helpers: list[table.Identity] = []
    known = threading.Event()

    def tell(name: str, code: int) -> None:
        known.wait(10)
        alive.extend(map(table.is_alive, helpers))
        reported.set()

    backend = ProcessBackend(tmp_path / "processes.jsonl", tmp_path, tell)
    try:
        wait = f"while not os.path.exists({str(tmp_path / 'exit')!r}): pass"
        helpers += _with_helpers(backend, tmp_path / "node-1.log", wait)
        known.set()
        (tmp_path / "exit").touch()
        assert reported.wait(10)
        assert alive == [False, False]
    finally:
        backend.stop_all()


def test_a_restart_meets_no_helper_of_the_process_before(backend: ProcessBackend, tmp_path: Path) -> None:
    earlier = _with_helpers(backend, tmp_path / "node-1.log")
    backend.terminate("node-1")
    assert backend.await_end("node-1", 10)
    later = _with_helpers(backend, tmp_path / "node-1.log")
    assert not any(map(table.is_alive, earlier))
    assert all(map(table.is_alive, later))


def test_the_processes_of_a_node_are_its_own_and_all_that_they_started(backend: ProcessBackend, tmp_path: Path) -> None:
    helpers = _with_helpers(backend, tmp_path / "node-1.log")
    other = backend.start("node-2", SLEEP)
    main = backend.status("node-1").pid
    assert {name: set(pids) for name, pids in backend.pids().items()} == {
        "node-1": {main, *(each.pid for each in helpers)},
        "node-2": {other.pid},
    }


def test_a_node_that_has_ended_has_no_processes_though_its_pid_is_used_again(
    backend: ProcessBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = backend.start("node-1", SLEEP)
    backend.kill("node-1")
    monkeypatch.setattr(ProcessSnapshot, "family", lambda *_: [identity])
    assert backend.pids() == {}


def test_a_node_may_start_while_the_processes_of_all_are_listed(
    backend: ProcessBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = ProcessSnapshot.family

    def and_another_starts(now: ProcessSnapshot, leader: int, token: str | None = None) -> list[Identity]:
        if backend.status("node-2").running is Running.NEVER_STARTED:
            backend.start("node-2", SLEEP)
        return family(now, leader, token)

    main = backend.start("node-1", SLEEP)
    monkeypatch.setattr(ProcessSnapshot, "family", and_another_starts)
    assert backend.pids()["node-1"] == [main.pid]
    assert backend.status("node-2").running is Running.RUNNING


def test_helpers_are_paused_and_continued_with_their_node(backend: ProcessBackend, tmp_path: Path) -> None:
    helpers = _with_helpers(backend, tmp_path / "node-1.log")
    backend.pause("node-1")
    eventually(lambda: all(set(table.thread_states(each.pid)) == {"T"} for each in helpers), "the helpers are stopped")
    backend.resume("node-1")
    eventually(lambda: all("T" not in table.thread_states(each.pid) for each in helpers), "the helpers run")


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
