"""A cluster that one terminal holds and another breaks."""

import math
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fencepost.harness.cli.control import ControlServer, ask, find_run
from fencepost.harness.cli.interactive import InteractiveFaults
from fencepost.harness.cli.status import status_tables
from fencepost.harness.clients.observer import Observer
from fencepost.harness.clients.workload import Workload
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.active_faults import ActiveFaults
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.node_logs import NodeLogs
from fencepost.harness.errors import UsageError
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter, read_journal
from tests.harness.sample_target import FIRST, SampleTarget, sample_plan
from tests.waiting import eventually

pytestmark = pytest.mark.integration
TARGET = SampleTarget()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The run folder of a cluster that is up, at a path too long for a Unix socket's address."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    TARGET.dying.clear()
    folder = RunFolder.create_at(tmp_path / ("long" * 30) / "run")
    with (
        closing(JournalWriter(folder.journal)) as journal,
        Cluster(sample_plan(), folder, journal, TARGET) as cluster,
    ):
        cluster.start(FIRST)
        with closing(ControlServer(folder.path, InteractiveFaults(_context(cluster)).operations())):
            yield folder.path


def _node(run: Path, name: str) -> dict[str, Any]:
    """Return what the status has of one node."""
    [found] = [node for node in ask(run, "status")["nodes"] if node["name"] == name]
    return dict(found)


def _context(cluster: Cluster) -> Context:
    """Return a context without observers: the stand-ins for nodes answer no requests."""
    observer = Observer((), cluster.target.file.dialect, cluster.journal)
    workload = Workload(cluster.plan, cluster.journal, cluster.client_settings)
    logs = NodeLogs(cluster.folder.logs, FIRST)
    active_faults = ActiveFaults(cluster.journal)
    return Context(cluster.plan, cluster, cluster.journal, observer, workload, active_faults, logs, math.inf)


def test_a_fault_is_injected_proven_shown_healed_and_journalled(run: Path) -> None:
    assert find_run(None) == run
    done = ask(run, "inject", fault="cut", params={"from": "node-2", "to": "controllers"}, name=None)
    assert done["name"] == "cut-1"
    assert "round trip" in done["how"]
    (fault,) = ask(run, "status")["faults"]
    assert fault["targets"]["links"] == [{"from": "node-2", "to": "node-1", "effect": "cut"}]
    assert ask(run, "heal", name=None) == {"healed": ["cut-1"], "ended": {}}
    assert ask(run, "status")["faults"] == []
    phases = [event.phase for event in read_journal(run / "journal.jsonl").of("fault")]
    assert phases == ["intent", "injected", "proven", "recovering", "healed"]


def test_a_paused_node_shows_in_the_status_and_is_resumed_by_name(run: Path) -> None:
    ask(run, "inject", fault="pause", params={"nodes": ["node-3"]}, name="nap")
    states = {node["name"]: node["state"] for node in ask(run, "status")["nodes"]}
    assert states == {"node-1": "running", "node-2": "running", "node-3": "paused", "node-3b": "never started"}
    assert ask(run, "heal", name="nap") == {"healed": ["nap"], "ended": {}}


@pytest.mark.parametrize(
    ("fault", "params", "message"),
    [
        ("cutt", {}, "did you mean `cut`"),
        ("cut", {"from": ["node-9"], "to": ["node-1"]}, "unknown node `node-9`"),
        ("cut", {"from": ["node-1"]}, "--to is missing"),
        ("pause", {"nodes": "leader:t-0"}, "t-0"),
        ("kill", {"nodes": ["node-3b"]}, "node-3b"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_message(
    run: Path, fault: str, params: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ask(run, "inject", fault=fault, params=params, name=None)
    assert ask(run, "status")["faults"] == []


def test_a_node_that_ended_by_itself_is_named_by_all_that_meet_it_and_started_again(run: Path) -> None:
    process = _node(run, "node-2")["pid"]
    os.kill(process, signal.SIGKILL)
    eventually(lambda: _node(run, "node-2")["state"] == "exited")
    assert "node-2 ended with signal SIGKILL" in ask(run, "status")["broken"]
    assert list(ask(run, "heal", name=None)["ended"]) == ["node-2"]
    with pytest.raises(UsageError, match="`fencepost start node-2` starts it again"):
        ask(run, "inject", fault="kill", params={"nodes": "node-2"}, name=None)
    assert ask(run, "start", nodes=[]) == ["node-2"]
    assert _node(run, "node-2")["state"] == "running"
    assert _node(run, "node-2")["pid"] != process
    assert ask(run, "start", nodes=[]) == []


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (["node-1"], "node-1 is running: only a node that ended can be started"),
        (["node-3b"], "node-3b is a duplicate of node-3: start it with `fencepost inject duplicate --node node-3b`"),
        (["node-9"], "there is no node node-9"),
        (["node-2"], "the fault hit holds node-2: `fencepost heal hit` brings it back"),
    ],
)
def test_a_node_is_started_only_after_it_ended_and_unless_a_fault_holds_it(
    run: Path, nodes: list[str], message: str
) -> None:
    ask(run, "inject", fault="kill", params={"nodes": "node-2"}, name="hit")
    with pytest.raises(UsageError, match=message):
        ask(run, "start", nodes=nodes)


def test_a_node_that_ends_again_says_how(run: Path) -> None:
    os.kill(_node(run, "node-2")["pid"], signal.SIGKILL)
    eventually(lambda: _node(run, "node-2")["state"] == "exited")
    TARGET.dying.add("node-2")
    with pytest.raises(UsageError, match="node-2 did not come back: node-2 ended with exit code"):
        ask(run, "start", nodes=["node-2"])


def test_a_name_is_taken_once_and_only_known_names_are_healed(run: Path) -> None:
    ask(run, "inject", fault="cut", params={"from": ["node-2"], "to": ["node-1"]}, name="x")
    with pytest.raises(UsageError, match="a fault is called x already"):
        ask(run, "inject", fault="cut", params={"from": ["node-3"], "to": ["node-1"]}, name="x")
    with pytest.raises(UsageError, match="no fault is called y: the active faults are x"):
        ask(run, "heal", name="y")


def test_when_nothing_is_up_the_error_says_how_to_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    with pytest.raises(UsageError, match="fencepost up"):
        find_run(None)
    with pytest.raises(UsageError, match="is not up any more"):
        ask(tmp_path, "status")


def test_the_state_can_be_asked_for_while_a_fault_waits_for_its_moment(run: Path) -> None:
    when = {"says": "now or never", "within_ms": 120_000}
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(ask, run, "inject", fault="kill", params={"nodes": "node-2", "when": when}, name="hit")
        assert ask(run, "status")["faults"] == []
        assert not waiting.done()
        with RunFolder(run).logs.joinpath("node-2.log").open("a") as log:
            log.write("now or never\n")
        assert waiting.result()["name"] == "hit"
    assert [fault["name"] for fault in ask(run, "status")["faults"]] == ["hit"]


def test_what_is_shown_of_a_cluster_names_nodes_faults_and_where_it_is(run: Path) -> None:
    ask(run, "inject", fault="pause", params={"nodes": "node-3"}, name="nap")
    status = ask(run, "status")
    status["partitions"] = [{"name": "t-0", "leader": -1, "epoch": 4, "isr": [2], "replicas": [2, 3]}]
    console = Console(width=150, record=True, file=StringIO())
    console.print(status_tables(status))
    said = console.export_text()
    assert [word for word in ("paused", "nap", "node-3b", "none", "2 (3)") if word not in said] == []
    assert str(run) in "".join(said.split())  # however it was wrapped
