"""The steps around the start of a node's process."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.backends.process import ProcessBackend
from fencepost.harness.cluster.nodes import Nodes, copy_in_use
from fencepost.harness.errors import NodeNotReady
from fencepost.harness.network.addresses import LAST_K, Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.plan.model import Timing
from fencepost.harness.processes.command import Command
from fencepost.harness.processes.waiting import within
from fencepost.harness.targets.target import Installation
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter, read_journal
from tests.harness.sample_target import SampleTarget

pytestmark = pytest.mark.integration
ADDRESSES = Addresses(LAST_K + 1)
"""A block that no cluster leases: nothing else answers there."""
NODE = Node("node-4", 4, 4, frozenset({Role.BROKER}), ADDRESSES.node(4))


class Telling(SampleTarget):
    """Its node says what is in its environment, and ends."""

    def command(self, node: Node, installation: Installation) -> Command:
        says = "import os; print(os.environ['OWN'], os.environ['SHIM'])"
        return Command([sys.executable, "-c", says], {"OWN": "own", "SHIM": "none"})


@dataclass
class Mounting:
    """Makes the node's directory before the node has one, and counts."""

    nodes: Path
    prepared: list[list[str]] = field(default_factory=list)

    def prepare(self, node: Node) -> None:
        home = self.nodes / node.name
        self.prepared.append(sorted(path.name for path in home.iterdir()))
        (home / "data").mkdir(exist_ok=True)

    def environment(self, node: Node) -> Mapping[str, str]:
        return {"SHIM": f"shim of {node.name}"}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create_at(tmp_path / "run")


@pytest.fixture
def mounting(folder: RunFolder) -> Mounting:
    return Mounting(folder.nodes)


@pytest.fixture
def nodes(folder: RunFolder, mounting: Mounting) -> Iterator[Nodes]:
    layout = Layout(ADDRESSES, (NODE,), site_names([]))
    installation = Installation(layout, Timing(), "cluster", folder.nodes)
    backend = ProcessBackend(folder.processes, folder.logs)
    with closing(JournalWriter(folder.journal)) as journal:
        yield Nodes(layout, installation, Telling(), backend, journal, [mounting])
        backend.stop_all()


def test_what_a_node_is_started_upon_is_there_before_its_files_and_at_every_start(
    nodes: Nodes, mounting: Mounting, folder: RunFolder
) -> None:
    for _ in range(2):
        nodes.start("node-4")
        assert nodes.await_end("node-4", 10)
    assert mounting.prepared == [[], ["data", "hosts", "node.properties"]]
    assert (folder.nodes / "node-4" / "data" / "formatted").exists()


def test_a_node_finds_what_was_prepared_in_its_environment(nodes: Nodes, folder: RunFolder) -> None:
    nodes.start("node-4")
    assert nodes.await_end("node-4", 10)
    assert (folder.logs / "node-4.log").read_text() == "own shim of node-4\n"


def test_what_a_node_said_is_what_its_last_process_did(nodes: Nodes, folder: RunFolder) -> None:
    for _ in range(2):
        nodes.start("node-4")
        assert nodes.await_end("node-4", 10)
    assert nodes.said("node-4") == ["own shim of node-4"]
    assert (folder.logs / "node-4.log").read_text() == 2 * "own shim of node-4\n"


@dataclass
class Saying(SampleTarget):
    """Its node runs a script."""

    script: str

    def __post_init__(self) -> None:
        super().__init__()

    def command(self, node: Node, installation: Installation) -> Command:
        return Command([sys.executable, "-u", "-c", self.script], {})


SPINS = Saying("import time\nprint('ERROR it spins')\nwhile True: time.sleep(1)")
"""Its node runs, logs an error, and never listens: only an end from outside ends its loop."""


def events_of(folder: RunFolder, target: SampleTarget, act: Callable[[Nodes], None]) -> Mapping[str, Mapping[str, Any]]:
    """Return the data of each event of the node's by its phase, after `act`."""
    layout = Layout(ADDRESSES, (NODE,), site_names([]))
    installation = Installation(layout, Timing(), "cluster", folder.nodes)
    with closing(JournalWriter(folder.journal)) as journal:
        backend = ProcessBackend(folder.processes, folder.logs, lambda name, code: running.ended(name, code))
        running = Nodes(layout, installation, target, backend, journal)
        try:
            running.start("node-4")
            act(running)
        finally:
            backend.stop_all()
    return {event.phase: event.data for event in read_journal(folder.journal).events}


def test_a_node_that_runs_and_does_not_answer_is_noted_with_its_last_error(folder: RunFolder) -> None:
    def act(nodes: Nodes) -> None:
        assert within(20, lambda: "ERROR it spins" in nodes.said("node-4"))
        with pytest.raises(NodeNotReady, match=r"does not answer at .* ERROR it spins"):
            nodes.await_ready("node-4", 0.2)

    silent = events_of(folder, SPINS, act)["silent"]
    assert silent["seconds"] > 0.2, "from its start"
    assert (silent["reach"], silent["error"]) == ("refused", "ERROR it spins")


def test_a_node_of_which_the_time_is_over_is_asked_once_more_and_noted_with_all_its_time(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.harness.cluster.nodes.LAST_ASK", 0.5)

    def act(nodes: Nodes) -> None:
        with pytest.raises(NodeNotReady):
            nodes.await_ready("node-4", 60.0, since=time.monotonic() - 90)

    assert events_of(folder, SPINS, act)["silent"]["seconds"] == pytest.approx(90.5, abs=0.2)


@pytest.mark.parametrize("ask", [0.0, 0.2])
def test_a_node_that_was_not_awaited_and_does_not_answer_is_noted_once(
    ask: float, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.harness.cluster.nodes.LAST_ASK", ask)

    def act(nodes: Nodes) -> None:
        nodes.pause("node-4")
        nodes.await_unawaited(0.1)
        nodes.resume("node-4")
        assert within(20, lambda: "ERROR it spins" in nodes.said("node-4"))
        for _ in range(2):
            nodes.await_unawaited(0.1)

    silent = events_of(folder, SPINS, act)["silent"]
    assert silent["seconds"] >= 0.1, "from its last start or resume"
    assert (silent["reach"], silent["error"]) == ("refused", "ERROR it spins")
    assert [event.phase for event in read_journal(folder.journal).of("node")].count("silent") == 1


def test_a_node_that_was_awaited_or_ended_is_not_asked_again(folder: RunFolder) -> None:
    def act(nodes: Nodes) -> None:
        with pytest.raises(NodeNotReady):
            nodes.await_ready("node-4", 0.1)
        nodes.await_unawaited(0.1)
        nodes.pause("node-4")
        nodes.resume("node-4")
        nodes.kill("node-4")
        nodes.await_unawaited(0.1)

    events_of(folder, SPINS, act)
    phases = [event.phase for event in read_journal(folder.journal).of("node")]
    assert phases == ["intent", "started", "silent", "paused", "resumed", "killed"]


def test_a_wrong_exit_code_after_sigterm_is_noted_with_the_last_error(folder: RunFolder) -> None:
    def act(nodes: Nodes) -> None:
        assert within(20, lambda: "up" in nodes.said("node-4"))
        nodes.shut_down("node-4")
        assert nodes.await_end("node-4", 20)

    crashes = Saying(
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('panic: boom'), sys.exit(2)))\n"
        "print('up')\nsignal.pause()"
    )
    stopped = events_of(folder, crashes, act)["stopped"]
    assert (stopped["exit_code"], stopped["error"]) == (2, "panic: boom")
    assert "the last lines of" in stopped["message"]


def test_the_copy_of_a_directory_in_use_has_no_checkpoint_beyond_its_log(tmp_path: Path) -> None:
    used = tmp_path / "used"
    logs = [used / f"t-{at}" / "00000000000000000000.log" for at in range(8)]
    for log in logs:
        log.parent.mkdir(parents=True)
        log.touch()
    checkpoint = used / "replication-offset-checkpoint"
    checkpoint.write_text("0")
    done = threading.Event()

    def write() -> None:
        written = 0
        while not done.is_set():
            written += 1
            for log in logs:
                with log.open("ab") as file:
                    file.write(b"r")
            checkpoint.with_suffix(".tmp").write_text(str(written))
            checkpoint.with_suffix(".tmp").replace(checkpoint)

    with ThreadPoolExecutor(1) as broker:
        writing = broker.submit(write)
        try:
            for at in range(50):
                copy = tmp_path / f"copy-{at}"
                copy_in_use(used, copy)
                named = int((copy / checkpoint.name).read_text())
                assert all((copy / log.relative_to(used)).stat().st_size >= named for log in logs)
        finally:
            done.set()
        writing.result()
