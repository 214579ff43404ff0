"""Faults of directories and disks on releases of Apache Kafka whose directories differ: proven by what is on disk.

3.3 has no ids of directories, 3.9 has them, and 4.4 formats a controller with a snapshot beside its metadata log.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fencepost.faults.capabilities import Capability, CapabilityError
from fencepost.faults.disks.damaged_file import KINDS
from fencepost.faults.registry import FAULTS, build
from fencepost.harness.backends import PROCESS
from fencepost.harness.campaign.situations.snapshots import SNAPSHOTS, DamagedMetadataSnapshot
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.plan.model import NodeSettings
from tests.faults.cases import BASE, BROKEN, CASES, CONTROLLER, OTHER
from tests.faults.real import make_whole, small_cluster, tidy

pytestmark = pytest.mark.integration

RELEASES = ("3.3.1", "3.9.2", "4.4.0")
OF_FILES = (Capability.DIRECTORIES, Capability.DISKS, Capability.IDENTITY)
METADATA = "__cluster_metadata-0"


@pytest.fixture(scope="module", params=RELEASES)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    often = NodeSettings(all=dict(DamagedMetadataSnapshot.settings))
    folder: Path = tmp_path_factory.mktemp("release") / "run"
    with small_cluster(folder, target=f"apache-kafka:{request.param}", settings=often) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Cluster:
    make_whole(running)
    return running


def test_started_nodes_hold_partitions_and_snapshots_of_later_offsets(cluster: Cluster) -> None:
    for name in BASE:
        held = cluster.directories.contents(name)
        assert METADATA in held.partitions
        assert ("t-0" in held.partitions) == (name != CONTROLLER)
        snapshots = [Path(file).name for file in cluster.directories.files(name, SNAPSHOTS)]
        assert snapshots
        assert all(int(snapshot.split("-")[0]) > 0 for snapshot in snapshots)


@pytest.mark.parametrize("how", ["shutdown", "kill"])
def test_each_file_that_random_plans_damage_is_there_when_its_node_has_ended(how: str, cluster: Cluster) -> None:
    end = cluster.processes.kill if how == "kill" else cluster.processes.shut_down
    end(OTHER)
    assert cluster.processes.await_end(OTHER, 30)
    kinds = [kind for kind in KINDS if "apache-kafka" in kind.designs and how in kind.methods]
    patterns = {kind.pattern.format(partition="t-0") for kind in kinds}
    assert patterns
    assert {each for each in patterns if not cluster.directories.files(OTHER, each)} == set()


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.capability in OF_FILES])
def test_a_fault_of_files_is_proven_and_healed(name: str, cluster: Cluster) -> None:
    capability = FAULTS[name].capability
    if reason := unavailable_reason(PROCESS, capability):
        pytest.skip(reason)
    fault = build(name, cluster, CASES[name].real)
    fault.set_up()
    try:
        fault.inject()
        assert fault.verify().proven
        fault.recover()
        assert fault.verify_healed().proven
    finally:
        with suppress(CapabilityError):
            fault.recover()
        tidy(name, cluster)


def test_an_emptied_controller_is_found_empty(cluster: Cluster) -> None:
    """Last: the one controller of this cluster forgets it."""
    fault = build("emptied", cluster, {"nodes": [CONTROLLER, BROKEN]})
    fault.set_up()
    fault.inject()
    assert fault.verify().proven
