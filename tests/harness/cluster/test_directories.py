"""Directories of nodes are really emptied, copied, put back and exchanged, and say what they are made to say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.faults.capabilities import CapabilityError, Damage, ProcessStatus, Running
from fencepost.harness.cluster.directories import NodeDirectories
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.plan.model import Timing
from fencepost.harness.targets.registry import load
from fencepost.harness.targets.target import Installation, write_properties

ADDRESSES = Addresses(20)
BROKERS = tuple(Node(f"node-{n}", n, n, frozenset({Role.BROKER}), ADDRESSES.node(n), log_dirs=2) for n in (4, 5))
ZOOKEEPER = Node("zk-1", 1, 1, frozenset({Role.ZOOKEEPER}), ADDRESSES.node(1))
LAYOUT = Layout(ADDRESSES, (*BROKERS, ZOOKEEPER), site_names([]))


@pytest.fixture
def running() -> dict[str, Running]:
    return {}


@pytest.fixture
def nodes(tmp_path: Path) -> Path:
    for node in BROKERS:
        home = tmp_path / node.name
        for name in ("data", "data-2"):
            folder = home / name / f"{name}-{node.id}"
            folder.mkdir(parents=True)
            (folder / "00000000000000000000.log").write_bytes(f"records of {node.id} in {name}".encode())
            write_properties(
                home / name / "meta.properties",
                {"version": "0", "cluster.id": "own", "broker.id": str(node.id)},
            )
        write_properties(home / "node.properties", {"broker.id": str(node.id), "log.dirs": "data"})
    return tmp_path


@pytest.fixture
def directories(nodes: Path, running: dict[str, Running]) -> NodeDirectories:
    installation = Installation(LAYOUT, Timing(), "own", nodes)
    return NodeDirectories(
        LAYOUT, installation, load("zk-controller"), lambda node: ProcessStatus(running.get(node, Running.EXITED))
    )


def test_what_is_emptied_stands_aside(directories: NodeDirectories, nodes: Path) -> None:
    assert directories.contents("node-4").partitions == {"data-4", "data-2-4"}
    directories.empty("node-4")
    assert directories.contents("node-4").partitions == frozenset()
    assert directories.claim("node-4").stored_id is None
    assert list((nodes / "node-4" / "data").iterdir()) == []
    assert (nodes / "node-4" / "data-2.before-1" / "data-2-4").is_dir()


def test_a_copy_is_put_back_as_often_as_one_likes(directories: NodeDirectories, nodes: Path) -> None:
    copy = directories.copy("node-4", "monday")
    segment = nodes / "node-4" / "data" / "data-4" / "00000000000000000000.log"
    for _ in range(2):
        segment.write_bytes(b"newer")
        assert directories.contents("node-4") != copy
        directories.put_back("node-4", "monday")
        assert directories.contents("node-4") == copy == directories.copied("node-4", "monday")


def test_a_copy_keeps_holes(directories: NodeDirectories, nodes: Path) -> None:
    with (nodes / "node-4" / "data" / "data-4" / "0.index").open("wb") as index:
        index.truncate(10_000_000)
    directories.copy("node-4", "monday")
    copy = nodes / "node-4" / "monday.copy" / "data" / "data-4" / "0.index"
    assert copy.stat().st_size == 10_000_000
    assert copy.stat().st_blocks * 512 < 1_000_000


@pytest.mark.parametrize(
    ("damage", "left"), [(Damage.LOST, None), (Damage.CUT, b"records"), (Damage.GARBAGE, b"\xff" * 15)]
)
def test_files_that_match_are_damaged_and_repaired_and_no_other(
    damage: Damage, left: bytes | None, directories: NodeDirectories, nodes: Path
) -> None:
    segment = nodes / "node-4" / "data" / "data-4" / "00000000000000000000.log"
    segment.write_bytes(b"records of 4 it")
    whole, other = directories.files("node-4", "data-4/*.log"), directories.files("node-4", "meta.properties")
    assert list(whole) == ["data/data-4/00000000000000000000.log"]
    directories.damage("node-4", "data-4/*.log", damage)
    assert (segment.read_bytes() if segment.exists() else None) == left
    assert directories.files("node-4", "data-4/*.log") != whole
    assert directories.files("node-4", "meta.properties") == other
    directories.repair("node-4")
    assert directories.files("node-4", "data-4/*.log") == whole


def test_a_partition_s_folder_is_lost_with_all_that_is_in_it(directories: NodeDirectories, nodes: Path) -> None:
    directories.damage("node-4", "data-4", Damage.LOST)
    assert directories.contents("node-4").partitions == {"data-2-4"}
    directories.repair("node-4")
    assert directories.contents("node-4").partitions == {"data-4", "data-2-4"}


def test_files_become_older_alone(directories: NodeDirectories, nodes: Path) -> None:
    folder = nodes / "node-4" / "data" / "data-4"
    directories.copy("node-4", "before")
    before = directories.files("node-4", "data-4")
    (folder / "00000000000000000000.log").write_bytes(b"newer")
    (folder / "00000000000000000009.log").write_bytes(b"not there before")
    (folder.parent / "meta.properties").write_text("newer, too")
    after = directories.files("node-4", "*")
    directories.damage("node-4", "data-4", Damage.OLDER, "before")
    assert directories.files("node-4", "data-4") == before
    assert (folder.parent / "meta.properties").read_text() == "newer, too"
    directories.repair("node-4")
    assert directories.files("node-4", "*") == after


def test_two_nodes_exchange_all_that_they_have_and_back(directories: NodeDirectories) -> None:
    mine, theirs = (directories.contents(node.name) for node in BROKERS)
    directories.swap("node-4", "node-5")
    assert (directories.contents("node-4"), directories.contents("node-5")) == (theirs, mine)
    assert directories.claim("node-4").stored_id == 5
    directories.swap("node-4", "node-5")
    assert (directories.contents("node-4"), directories.contents("node-5")) == (mine, theirs)


def test_ids_are_changed_where_they_are_written_and_nowhere_else(directories: NodeDirectories, nodes: Path) -> None:
    directories.set_stored_cluster("node-4", "another")
    directories.set_configured_id("node-4", directories.unused_id())
    claim = directories.claim("node-4")
    assert (claim.configured_id, claim.stored_id, claim.stored_cluster) == (6, 4, "another")
    for name in ("data", "data-2"):
        text = (nodes / "node-4" / name / "meta.properties").read_text()
        assert text == "version=0\ncluster.id=another\nbroker.id=4\n"
    assert (nodes / "node-4" / "node.properties").read_text() == "broker.id=6\nlog.dirs=data\n"


def test_directories_of_a_node_that_runs_are_left_alone(
    directories: NodeDirectories, running: dict[str, Running]
) -> None:
    running["node-4"] = Running.RUNNING
    changes: tuple[Callable[[], None], ...] = (
        lambda: directories.empty("node-4"),
        lambda: directories.swap("node-5", "node-4"),
        lambda: directories.set_stored_cluster("node-4", "another"),
    )
    for change in changes:
        with pytest.raises(CapabilityError, match="its directories change only while it is down"):
            change()
    with pytest.raises(CapabilityError, match="pause it first"):
        directories.copy("node-4", "monday")
    running["node-4"] = Running.PAUSED
    assert directories.copy("node-4", "monday").partitions


@pytest.mark.parametrize(
    ("node", "name", "message"),
    [
        ("node-4", "tuesday", "node-4 has no copy 'tuesday': a `backup` step makes one"),
        ("zk-1", "monday", "zk-1 is a ZooKeeper server"),
    ],
)
def test_what_is_not_there_is_named(directories: NodeDirectories, node: str, name: str, message: str) -> None:
    with pytest.raises(CapabilityError, match=message):
        directories.put_back(node, name)


def test_a_second_copy_under_one_name_is_refused(directories: NodeDirectories) -> None:
    directories.copy("node-4", "monday")
    with pytest.raises(CapabilityError, match="node-4 has a copy 'monday' already"):
        directories.copy("node-4", "monday")


def test_a_duplicate_may_have_the_directory_of_its_original(nodes: Path) -> None:
    second = Node("node-4b", 4, 14, BROKERS[0].roles, ADDRESSES.node(14), "node-4", "same")
    layout = Layout(ADDRESSES, (*BROKERS, second), site_names([]))
    installation = Installation(layout, Timing(), "own", nodes)
    assert installation.data(second) == nodes / "node-4" / "data"
    assert installation.home(second) == nodes / "node-4b"
