"""A cluster of small stand-in nodes: started through links, broken, audited, and gone afterwards."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fencepost.faults.capabilities import ProbeResult, Running
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.network.layout import Listener
from fencepost.harness.network.lease import leases
from fencepost.harness.network.roundtrip import round_trip
from fencepost.harness.processes import table
from fencepost.harness.processes.records import living, read_records
from fencepost.harness.processes.table import Identity
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter, read_journal
from tests.harness.sample_target import FIRST, SampleTarget, sample_plan, zookeeper_plan

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))


@pytest.fixture
def target() -> SampleTarget:
    return SampleTarget()


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create_at(tmp_path / "run")


@pytest.fixture
def cluster(folder: RunFolder, target: SampleTarget) -> Iterator[Cluster]:
    with closing(JournalWriter(folder.journal)) as journal, Cluster(sample_plan(), folder, journal, target) as cluster:
        yield cluster


def _phases(folder: RunFolder, node: str) -> list[str]:
    return [event.phase for event in read_journal(folder.journal).of("node") if event.node == node]


def test_started_nodes_serve_are_journalled_and_talk_through_links_only(cluster: Cluster, folder: RunFolder) -> None:
    cluster.start(FIRST)
    assert _phases(folder, "node-2") == ["intent", "started", "ready"]
    assert cluster.links.reach("node-1", "node-2", 1) is ProbeResult.ANSWERED
    assert cluster.links.reach("site:main", "node-3", 1) is ProbeResult.ANSWERED
    assert cluster.processes.peers("node-1") >= {"node-2", "node-3"}
    assert cluster.problems() == []
    for listener in (Listener.CLIENT, Listener.INTERNAL):
        assert round_trip(cluster.probe_address("node-2", listener), 1).reach is ProbeResult.ANSWERED


def test_nodes_that_dial_peers_directly_are_named_by_the_audit(cluster: Cluster, target: SampleTarget) -> None:
    target.past_links.add("node-2")
    cluster.start(FIRST)
    assert {(found.node, found.towards) for found in cluster.socket_audit()} == {
        ("node-2", "node-1"),
        ("node-2", "node-3"),
    }
    assert "none of its links" in cluster.problems()[0]


def test_a_node_that_dies_while_starting_is_reported_with_its_last_words(
    cluster: Cluster, target: SampleTarget
) -> None:
    target.dying.add("node-2")
    with pytest.raises(
        InfrastructureError, match=r"(?s)node-2 ended with exit code 1.*this node was configured to die"
    ):
        cluster.start(FIRST)


def test_a_node_that_never_serves_is_given_up_at_the_deadline(cluster: Cluster, target: SampleTarget) -> None:
    with pytest.raises(InfrastructureError, match=r"after 0\.2 s: node-2 does not answer"):
        cluster.await_serving(["node-2"], timeout=0.2)


def test_kill_pause_resume_and_restart_are_journalled_and_keep_the_directory(
    cluster: Cluster, folder: RunFolder
) -> None:
    cluster.start(FIRST)
    cluster.processes.pause("node-2")
    assert cluster.processes.status("node-2").running is Running.PAUSED
    cluster.processes.resume("node-2")
    cluster.processes.kill("node-2")
    (folder.nodes / "node-2" / "data" / "segment").write_text("kept")
    cluster.processes.start("node-2")
    cluster.processes.await_ready("node-2", 10)
    assert (folder.nodes / "node-2" / "data" / "segment").read_text() == "kept"
    assert _phases(folder, "node-2")[3:] == ["paused", "resumed", "killed", "intent", "started", "ready"]


def test_a_node_that_is_shut_down_did_not_end_by_itself(cluster: Cluster, folder: RunFolder) -> None:
    cluster.start(FIRST)
    cluster.processes.shut_down("node-2")
    assert cluster.processes.await_end("node-2", 5)
    cluster.processes.shut_down("node-2")
    cluster.processes.start("node-2")
    cluster.processes.await_ready("node-2", 10)
    assert _phases(folder, "node-2")[3:] == ["stopping", "stopped", "intent", "started", "ready"]
    assert not cluster.processes.await_end("node-2", 0)


def test_zookeeper_starts_first_and_then_alone_the_broker_that_is_to_be_the_controller(
    folder: RunFolder, target: SampleTarget
) -> None:
    with (
        closing(JournalWriter(folder.journal)) as journal,
        Cluster(zookeeper_plan(), folder, journal, target) as cluster,
    ):
        cluster.start(["node-2", "node-3", "zk-1"])
        assert cluster.links.reach("node-2", "zk-1", 1) is ProbeResult.ANSWERED
        assert cluster.problems() == []
    phases = [(event.node, event.phase) for event in read_journal(folder.journal).of("node", "intent", "ready")]
    order = [(name, phase) for name in ("zk-1", "node-3", "node-2") for phase in ("intent", "ready")]
    assert phases == order


def test_a_node_is_at_the_plan_s_level_until_it_is_given_another(folder: RunFolder, target: SampleTarget) -> None:
    with (
        closing(JournalWriter(folder.journal)) as journal,
        Cluster(zookeeper_plan(), folder, journal, target) as cluster,
    ):
        cluster.start(["zk-1", "node-2"])
        written = cluster.installation.properties(cluster.node("node-2"))
        assert "level=base" in written.read_text()
        cluster.processes.set_version("node-2", None, "heartbeats")
        assert "level=heartbeats" in written.read_text()
        assert "level=None" in cluster.installation.properties(cluster.node("zk-1")).read_text()


@pytest.mark.parametrize(("directory", "origin"), [("empty", "node-3b"), ("cloned", "node-3")])
def test_a_duplicate_starts_on_an_empty_or_on_a_cloned_directory(
    folder: RunFolder, target: SampleTarget, directory: str, origin: str
) -> None:
    with (
        closing(JournalWriter(folder.journal)) as journal,
        Cluster(sample_plan(directory), folder, journal, target) as cluster,
    ):
        cluster.start(FIRST)
        cluster.duplicates.start_duplicate("node-3b")
        assert (folder.nodes / "node-3b" / "data" / "formatted").read_text() == origin
        cluster.duplicates.stop_duplicate("node-3b")
        assert cluster.processes.status("node-3b").running is Running.EXITED


def test_a_toxiproxy_that_dies_makes_the_run_worthless(cluster: Cluster) -> None:
    (toxiproxy,) = _alive(cluster.folder)
    table.end(toxiproxy)
    deadline = time.monotonic() + 30
    while not cluster.problems():
        assert time.monotonic() < deadline
    assert "toxiproxy ended with signal SIGKILL" in cluster.problems()[0]


def test_nothing_is_left_of_a_cluster_whatever_ends_it(folder: RunFolder, target: SampleTarget) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        closing(JournalWriter(folder.journal)) as journal,
        Cluster(sample_plan(), folder, journal, target) as cluster,
    ):
        cluster.start(FIRST)
        cluster.processes.pause("node-3")
        raise KeyboardInterrupt
    assert _alive(folder) == []
    assert leases() == []


def test_a_cluster_that_cannot_get_its_toxiproxy_leaves_nothing_behind(
    folder: RunFolder, target: SampleTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FENCEPOST_TOXIPROXY", "/no/such/program")
    with (
        closing(JournalWriter(folder.journal)) as journal,
        pytest.raises(InfrastructureError, match="FENCEPOST_TOXIPROXY=/no/such/program"),
    ):
        Cluster(sample_plan(), folder, journal, target).__enter__()
    assert leases() == []


def test_a_node_that_the_plan_lacks_is_refused_by_name(cluster: Cluster) -> None:
    with pytest.raises(UsageError, match="there is no node 'node-9'"):
        cluster.processes.start("node-9")


def _alive(folder: RunFolder) -> list[Identity]:
    return [identity for _, identity in living(read_records(folder.processes))]
