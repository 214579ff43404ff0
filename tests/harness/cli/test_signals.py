"""Ctrl-C, SIGTERM and a closed terminal end a run in order; a second signal ends it at once, and nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.plan import dump_plan
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.hold import Hold
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal
from tests.harness.processes.kill_anywhere import left

pytestmark = pytest.mark.integration
TIMEOUT_S = 180.0


@dataclass
class Running:
    """`fencepost run`, which has paused a node and holds it for long."""

    process: subprocess.Popen[bytes]
    run: Path
    terminal: int

    def shown(self) -> str:
        """Return the text that the terminal has shown and that was not read yet."""
        os.set_blocking(self.terminal, False)
        parts = []
        with suppress(OSError):  # nothing more, or the other end is closed
            while part := os.read(self.terminal, 4096):
                parts.append(part)
        return b"".join(parts).decode(errors="replace")

    def await_gone(self) -> None:
        _await(lambda: not left(self.run, "process"))

    def verdict(self) -> tuple[str, str]:
        saved = json.loads(RunFolder(self.run).verdict.read_text())
        return saved["verdict"], json.dumps(saved)


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Running]]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    file = tmp_path / "plan.yaml"
    file.write_text(dump_plan(_plan()))
    begun: list[subprocess.Popen[bytes]] = []

    def run() -> Running:
        runs = tmp_path / f"runs-{len(begun)}"
        argv = [sys.executable, "-m", "fencepost.harness.cli", "run", str(file), "--runs", str(runs)]
        child, mine = os.openpty()
        process = subprocess.Popen(argv, stdin=mine, stdout=mine, stderr=mine, start_new_session=True)
        os.close(mine)
        begun.append(process)
        _await(lambda: any(runs.glob("*/journal.jsonl")))
        [folder] = runs.iterdir()
        _await(lambda: any(event.phase == "proven" for event in read_journal(folder / "journal.jsonl").of("fault")))
        terminals.append(child)
        return Running(process, folder, child)

    terminals: list[int] = []
    yield run
    for process in begun:
        process.kill()
        process.wait()
    for terminal in terminals:
        os.close(terminal)


def test_each_signal_heals_stops_and_leaves_a_verdict(start: Callable[[], Running]) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        running = start()
        os.kill(running.process.pid, number)
        assert running.process.wait(TIMEOUT_S) == 2
        assert left(running.run, "process") == []
        assert number == signal.SIGHUP or "interrupted: ending the cluster" in running.shown()
        verdict, said = running.verdict()
        assert verdict == "infrastructure"
        assert "the run was interrupted" in said
        phases = [event.phase for event in read_journal(running.run / "journal.jsonl").of("fault")]
        assert phases[:3] == ["intent", "injected", "proven"]


def test_a_second_signal_ends_at_once_and_the_watcher_does_the_rest(start: Callable[[], Running]) -> None:
    running = start()
    began = time.monotonic()
    while running.process.poll() is None:  # however far the first one has got
        os.kill(running.process.pid, signal.SIGINT)
        assert time.monotonic() < began + TIMEOUT_S
        time.sleep(0.01)
    assert running.process.returncode == 128 + signal.SIGINT
    running.await_gone()
    _await(RunFolder(running.run).verdict.exists)
    assert running.verdict()[0] == "infrastructure"


def _plan() -> Plan:
    nodes = (
        NodeSpec(name="node-1", id=1, index=1, roles=("controller",)),
        NodeSpec(name="node-4", id=4, index=4, roles=("broker",)),
    )
    steps: tuple[Step, ...] = (
        inject("nap", PauseParameters(nodes="node-4")),
        Hold(as_="long", after="nap.proven", ms=600_000),
    )
    return Plan(
        scenario="interrupted",
        title="A run that is interrupted",
        document="KIP-631",
        seed=1,
        target="quorum",
        topology=Topology(nodes=nodes),
        steps=steps,
        deadline_ms=900_000,
    )


def _await(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
