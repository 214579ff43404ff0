"""What nodes find on disk at their next start: emptied, replaced, exchanged, and under other ids."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from faults.capabilities import CapabilityError, Claim, Contents, ProcessStatus, Running
from harness.errors import InfrastructureError
from harness.network.layout import Layout, Node
from harness.targets.identity import CLUSTER_ID, META_PROPERTIES, change_property, read_properties
from harness.targets.target import Installation, Target

PARTITION = re.compile(r".+-[0-9]+")
COPY_WITHIN = 60.0
"""Seconds for the copy of all that one node has."""


class NodeDirectories:
    """Implements `faults.capabilities.Directories`, file by file: a log directory itself may be a mount.

    `data` is put aside as `data.before-1`; the copy `monday` stands in `monday.copy`.
    """

    def __init__(
        self, layout: Layout, installation: Installation, target: Target, status: Callable[[str], ProcessStatus]
    ) -> None:
        self._layout = layout
        self._installation = installation
        self._target = target
        self._status = status

    def contents(self, node: str) -> Contents:
        return _contents(self._paths(self._node(node)))

    def empty(self, node: str) -> None:
        described = self._down(node)
        self._put_aside(described)
        self._target.format(described, self._installation)

    def copy(self, node: str, name: str) -> Contents:
        described = self._node(node)
        if self._status(node).running is Running.RUNNING:
            raise CapabilityError(f"{node} runs: a copy is made while nothing is written, so pause it first")
        folder = self._copy(described, name)
        if folder.exists():
            raise CapabilityError(f"{node} has a copy {name!r} already, in {folder}: give this one another name")
        folder.mkdir()
        for path in self._paths(described):
            _copied(path, folder / path.name)
        return self.copied(node, name)

    def copied(self, node: str, name: str) -> Contents:
        return _contents(self._of_copy(self._node(node), name))

    def put_back(self, node: str, name: str) -> None:
        described = self._down(node)
        copies = self._of_copy(described, name)
        self._put_aside(described)
        for copy, path in zip(copies, self._paths(described), strict=True):
            for entry in sorted(copy.iterdir()):
                _copied(entry, path / entry.name)

    def swap(self, one: str, other: str) -> None:
        mine, theirs = self._down(one), self._down(other)
        if mine.log_dirs != theirs.log_dirs:
            raise CapabilityError(f"{one} has {mine.log_dirs} log directories, {other} {theirs.log_dirs}")
        for own, foreign in zip(self._paths(mine), self._paths(theirs), strict=True):
            aside = _unused(own, "swapped")
            for source, destination in ((own, aside), (foreign, own), (aside, foreign)):
                _move(source, destination)
            aside.rmdir()

    def claim(self, node: str) -> Claim:
        described, keys = self._node(node), self._target.ids
        configured = read_properties(self._installation.properties(described))
        stored = read_properties(self._paths(described)[0] / META_PROPERTIES)
        return Claim(
            configured_id=int(next(configured[key] for key in keys.configured if key in configured)),
            stored_id=int(stored[keys.stored]) if keys.stored in stored else None,
            stored_cluster=stored.get(CLUSTER_ID),
        )

    def set_stored_cluster(self, node: str, cluster: str) -> None:
        for path in self._paths(self._down(node)):
            meta = path / META_PROPERTIES
            if CLUSTER_ID not in read_properties(meta):
                raise CapabilityError(f"{meta} names no cluster: {node} has not run in this directory")
            change_property(meta, CLUSTER_ID, cluster)

    def set_configured_id(self, node: str, id: int) -> None:
        path = self._installation.properties(self._down(node))
        for key in self._target.ids.configured:
            change_property(path, key, str(id))

    def unused_id(self) -> int:
        return max(node.id for node in self._layout.nodes) + 1

    def _node(self, name: str) -> Node:
        described = self._layout.node(name)
        if described.is_zookeeper:
            raise CapabilityError(f"{name} is a ZooKeeper server: its directory and its id are left alone")
        return described

    def _down(self, name: str) -> Node:
        described, status = self._node(name), self._status(name)
        if status.running in (Running.RUNNING, Running.PAUSED):
            raise CapabilityError(f"{name} is {status.running.value}: its directories change only while it is down")
        return described

    def _paths(self, node: Node) -> tuple[Path, ...]:
        return self._installation.log_dirs(node)

    def _copy(self, node: Node, name: str) -> Path:
        return self._installation.home(node) / f"{name}.copy"

    def _of_copy(self, node: Node, name: str) -> list[Path]:
        folder = self._copy(node, name)
        if not folder.exists():
            raise CapabilityError(f"{node.name} has no copy {name!r}: a `backup` step makes one")
        return [folder / path.name for path in self._paths(node)]

    def _put_aside(self, node: Node) -> None:
        for path in self._paths(node):
            _move(path, _unused(path, "before"))


def _contents(paths: Iterator[Path] | list[Path] | tuple[Path, ...]) -> Contents:
    partitions, size, digest = set(), 0, hashlib.sha256()
    for path in paths:
        digest.update("\n".join(_owner(path)).encode())
        for folder in _partitions(path):
            partitions.add(folder.name)
            for segment in sorted(folder.glob("*.log")):
                content = segment.read_bytes()
                size += len(content)
                digest.update(f"\n{folder.name}/{segment.name} {len(content)}\n".encode() + content)
    return Contents(frozenset(partitions), size, digest.hexdigest())


def _owner(path: Path) -> list[str]:
    """Sorted: when and in which order a node wrote it is no difference."""
    return sorted(f"{key}={value}" for key, value in read_properties(path / META_PROPERTIES).items())


def _partitions(path: Path) -> list[Path]:
    return sorted(entry for entry in path.iterdir() if PARTITION.fullmatch(entry.name) and entry.is_dir())


def _copied(source: Path, destination: Path) -> None:
    """With holes where there were holes: index files of a JVM are mostly that."""
    command = ["cp", "--archive", "--sparse=always", str(source), str(destination)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COPY_WITHIN, check=False)
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(f"{source} could not be copied within {COPY_WITHIN:g} s") from error
    if done.returncode:
        raise InfrastructureError(f"{source} could not be copied to {destination}: {done.stderr.strip()}")


def _move(source: Path, destination: Path) -> None:
    """All that is in a folder; the folder itself stays."""
    destination.mkdir(exist_ok=True)
    for entry in sorted(source.iterdir()):
        shutil.move(entry, destination / entry.name)


def _unused(path: Path, ending: str) -> Path:
    number = 1
    while (name := path.with_name(f"{path.name}.{ending}-{number}")).exists():
        number += 1
    return name
