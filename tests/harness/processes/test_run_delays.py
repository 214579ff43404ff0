"""How long processes waited for a processor."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fencepost.harness.processes.run_delays import ProcessorTimes, WaitingNodes, processor_times
from fencepost.results.records.journal import JournalWriter, read_journal
from tests.waiting import eventually

BUSY = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"
SHORT_THREADS = """
import threading, time
def burn():
    end = time.thread_time() + 0.02
    while time.thread_time() < end: pass
end = time.monotonic() + 60
while time.monotonic() < end:
    thread = threading.Thread(target=burn)
    thread.start()
    thread.join()
"""


@pytest.fixture
def crowd() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Three processes that all want the one processor they may run on."""
    first = min(os.sched_getaffinity(0))
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(3)]
    for process in processes:
        os.sched_setaffinity(process.pid, {first})
    yield processes
    for process in processes:
        process.kill()
        process.wait()


def written(path: Path, pids: Mapping[str, int], seconds: float) -> list[dict[str, object]]:
    with JournalWriter(path) as journal:
        waiting = WaitingNodes(lambda: pids, journal)
        waiting.look()
        for process in pids.values():
            ran = _ran(process)
            while _ran(process) < ran + seconds:  # its own processor time: that of the others passes meanwhile
                pass
        waiting.look()
    return [dict(event.data) | {"node": event.node} for event in read_journal(path).of("state")]


def _ran(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def _sleeps(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


@pytest.mark.skipif(not processor_times(os.getpid()).waited, reason="this kernel does not count run delays")
def test_a_process_that_shares_its_processor_waits(tmp_path: Path, crowd: list[subprocess.Popen[bytes]]) -> None:
    [seen] = written(tmp_path / "journal.jsonl", {"node-4": crowd[0].pid}, 0.3)
    assert (seen["what"], seen["node"]) == ("processor", "node-4")
    assert isinstance(seen["waited"], float) and isinstance(seen["seconds"], float)
    assert 0.3 * seen["seconds"] < seen["waited"] <= seen["seconds"]
    assert isinstance(seen["used"], float)
    assert seen["used"] == pytest.approx(seen["seconds"] - seen["waited"], abs=0.1)


def test_a_process_uses_what_its_threads_did_that_have_ended(
    tmp_path: Path, crowd: list[subprocess.Popen[bytes]]
) -> None:
    """Each thread of the process lives for far less than the time between two looks."""
    process = subprocess.Popen([sys.executable, "-c", SHORT_THREADS])
    os.sched_setaffinity(process.pid, os.sched_getaffinity(crowd[0].pid))
    try:
        eventually(lambda: processor_times(process.pid).total > 0.3, "the process runs")
        before = processor_times(process.pid)
        eventually(lambda: processor_times(process.pid).total > before.total + 0.3, "the process runs")
        assert processor_times(process.pid).since(before)[1] >= 0.3
    finally:
        process.kill()
        process.wait()


def test_the_compilers_of_a_jvm_are_no_use_of_the_node() -> None:
    before = ProcessorTimes({1: 0.5, 2: 0.0}, total=9.0, compilers={7: 3.0, 8: 1.0})
    after = ProcessorTimes({1: 0.7, 3: 2.0}, total=11.0, compilers={7: 4.0, 9: 0.5})
    assert after.since(before) == pytest.approx((0.2, 0.5))
    assert before.used == 5.0


def test_a_process_that_sleeps_waits_for_nothing(tmp_path: Path) -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        eventually(lambda: _sleeps(sleeper.pid), "the process has started and sleeps")
        assert written(tmp_path / "journal.jsonl", {"node-4": sleeper.pid}, 0.0) == []
    finally:
        sleeper.kill()
        sleeper.wait()


def test_a_process_that_is_gone_has_waited_for_nothing() -> None:
    assert processor_times(2**22 + 1) == ProcessorTimes({})
