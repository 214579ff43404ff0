"""Log directories of nodes are really broken, and whole again afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.faults.capabilities import Broken, CapabilityError
from fencepost.harness.cluster.log_dirs import NodeLogDirs
from fencepost.harness.disks.node_disks import NodeDisks
from fencepost.harness.disks.servers import DiskServers
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.plan.model import Timing
from fencepost.harness.targets.target import Installation
from fencepost.results.records.folder import RunFolder

ADDRESSES = Addresses(20)
NODE = Node("node-4", 4, 4, frozenset({Role.BROKER}), ADDRESSES.node(4), log_dirs=2)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, partition in (("data", "t-0"), ("data-2", "t-1")):
        (tmp_path / "node-4" / name / partition).mkdir(parents=True)
    return tmp_path / "node-4"


@pytest.fixture
def dirs(home: Path) -> NodeLogDirs:
    layout = Layout(ADDRESSES, (NODE,), site_names([]))
    installation = Installation(layout, Timing(), "cluster", home.parent)
    folder = RunFolder.create_at(home.parent / "run")
    return NodeLogDirs(layout, installation, NodeDisks(layout, installation, DiskServers(folder)))


def test_the_directory_of_a_partition_is_found(dirs: NodeLogDirs) -> None:
    assert (dirs.holding("node-4", "t-0"), dirs.holding("node-4", "t-1")) == (0, 1)
    with pytest.raises(CapabilityError, match="no log directory of node-4 holds t-2"):
        dirs.holding("node-4", "t-2")


@pytest.mark.parametrize(("how", "error"), [(Broken.REPLACED, "ENOTDIR"), (Broken.REMOVED, "ENOENT")])
def test_what_is_opened_in_a_broken_directory_fails_and_what_is_open_works(
    dirs: NodeLogDirs, home: Path, how: Broken, error: str
) -> None:
    with (home / "data-2" / "t-1" / "log").open("w") as log:
        for _ in range(2):
            dirs.break_("node-4", 1, how)
        assert dirs.state("node-4", 1).error == error
        assert dirs.state("node-4", 0).error is None
        with pytest.raises(OSError):
            (home / "data-2" / "checkpoint").touch()
        log.write("kept")
    for _ in range(2):
        dirs.restore("node-4", 1)
    assert dirs.state("node-4", 1).error is None
    assert (home / "data-2" / "t-1" / "log").read_text() == "kept"
    assert sorted(path.name for path in home.iterdir()) == ["data", "data-2"]


def test_what_a_node_made_in_the_place_of_its_directory_is_kept_beside_it(dirs: NodeLogDirs, home: Path) -> None:
    for name in ("first", "second"):
        dirs.break_("node-4", 0, Broken.REMOVED)
        (home / "data" / name).mkdir(parents=True)
        dirs.restore("node-4", 0)
    assert (home / "data" / "t-0").is_dir()
    assert (home / "data.meanwhile-1" / "first").is_dir()
    assert (home / "data.meanwhile-2" / "second").is_dir()


def test_a_directory_that_a_node_does_not_have_is_refused(dirs: NodeLogDirs) -> None:
    with pytest.raises(CapabilityError, match="node-4 has no log directory 2: it has 2"):
        dirs.state("node-4", 2)
