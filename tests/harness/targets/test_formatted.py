"""Directories of Apache Kafka are those that its own StorageTool makes of the node's configuration, on each format."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.faults.capabilities import ProcessStatus, Running
from fencepost.harness.cluster.directories import NodeDirectories
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.plan.model import Timing
from fencepost.harness.targets import jvm
from fencepost.harness.targets.identity import META_PROPERTIES, read_properties
from fencepost.harness.targets.registry import load
from fencepost.harness.targets.target import Installation, new_uuid, write_configuration

pytestmark = pytest.mark.integration

RELEASES = ("3.3.1", "3.9.2", "4.4.0")
"""No directory ids; directory ids; the first records of a controller in the place of its metadata log."""
ADDRESSES = Addresses(20)


def _node(number: int, *roles: Role) -> Node:
    return Node(f"node-{number}", number, number, frozenset(roles), ADDRESSES.node(number), log_dirs=2)


NODES = (_node(1, Role.CONTROLLER), _node(4, Role.BROKER), _node(5, Role.BROKER, Role.CONTROLLER))


def _installation(folder: Path) -> Installation:
    for node in NODES:
        (folder / node.name).mkdir(parents=True)
    return Installation(Layout(ADDRESSES, NODES, site_names([])), Timing(), new_uuid(), folder)


def _files(directories: tuple[Path, ...]) -> Iterator[tuple[str, object]]:
    """Yield each file by its path, with its size; of an identity all but the id of the directory, which is random."""
    for directory in directories:
        for path in sorted(each for each in directory.rglob("*") if each.is_file()):
            stored = read_properties(path) if path.name == META_PROPERTIES else {}
            if "directory.id" in stored:
                stored["directory.id"] = "random"
            yield f"{directory.name}/{path.relative_to(directory)}", stored or path.stat().st_size


@pytest.mark.parametrize("release", RELEASES)
def test_a_node_starts_from_the_files_that_the_storage_tool_makes_for_its_role(release: str, tmp_path: Path) -> None:
    target = load(f"apache-kafka:{release}")
    ours = _installation(tmp_path / "ours")
    theirs = replace(ours, nodes=tmp_path / "theirs")
    for node in NODES:
        target.format(node, ours)
        theirs.home(node).mkdir(parents=True)
        write_configuration(target, node, theirs)
        tool = ("kafka.tools.StorageTool", "format", "-t", ours.cluster_id, "-c", str(theirs.properties(node)))
        subprocess.run(jvm.kafka(release, *tool), capture_output=True, text=True, timeout=60, check=True)
        made = dict(_files(ours.log_dirs(node)))
        assert made == dict(_files(theirs.log_dirs(node))), node.name
        assert {f"data/{META_PROPERTIES}", f"data-2/{META_PROPERTIES}"} <= made.keys()


@pytest.mark.parametrize("release", RELEASES)
def test_what_a_node_has_before_its_first_start_is_no_partition(release: str, tmp_path: Path) -> None:
    installation, target = _installation(tmp_path), load(f"apache-kafka:{release}")
    directories = NodeDirectories(
        installation.layout, installation, target, lambda _: ProcessStatus(Running.NEVER_STARTED)
    )
    for node in NODES:
        target.format(node, installation)
        contents = directories.contents(node.name)
        assert (contents.partitions, contents.bytes) == (frozenset(), 0), node.name


def test_each_log_directory_has_an_id_of_its_own(tmp_path: Path) -> None:
    installation = _installation(tmp_path)
    for node in NODES:
        load("apache-kafka:4.4.0").format(node, installation)
    ids = [
        read_properties(each / META_PROPERTIES)["directory.id"]
        for node in NODES
        for each in installation.log_dirs(node)
    ]
    assert len(set(ids)) == len(ids) == 6
