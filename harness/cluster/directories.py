"""Changes to the directories and ids of nodes for their next start: emptied, restored, swapped, or renumbered."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from fencepost.faults.capabilities import CapabilityError, Claim, Contents, Damage, ProcessStatus, Running
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.layout import Layout, Node
from fencepost.harness.targets.identity import CLUSTER_ID, META_PROPERTIES, change_property, read_properties
from fencepost.harness.targets.target import Installation, Target

PARTITION = re.compile(r".+-[0-9]+")
COPY_WITHIN = 60.0
"""Seconds for the copy of all that one node has."""


class NodeDirectories:
    """Implements `fencepost.faults.capabilities.Directories`, file by file: a log directory itself may be a mount.

    `data` is put aside as `data.before-1`; the copy `monday` stands in `monday.copy`.
    """

    def __init__(
        self, layout: Layout, installation: Installation, target: Target, status: Callable[[str], ProcessStatus]
    ) -> None:
        self._layout = layout
        self._installation = installation
        self._target = target
        self._status = status
        self._damaged: dict[str, dict[Path, Path | None]] = defaultdict(dict)
        """The damaged files of each node, and the places of what they were; None for one that was not there before."""

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
            aside = unused_name(own, "swapped")
            for source, destination in ((own, aside), (foreign, own), (aside, foreign)):
                _move(source, destination)
            aside.rmdir()

    def files(self, node: str, pattern: str) -> Mapping[str, str]:
        return {
            f"{path.name}/{inside}": _fingerprint(path / inside)
            for path in self._paths(self._node(node))
            for inside in _matching(path, pattern)
        }

    def damage(self, node: str, pattern: str, damage: Damage, copy: str | None = None) -> None:
        described = self._down(node)
        paths = self._paths(described)
        copies = self._of_copy(described, copy) if copy is not None else [None] * len(paths)
        for path, older in zip(paths, copies, strict=True):
            aside = unused_name(path, "damaged")
            for inside in _matching(path, pattern):
                kept = aside / inside
                kept.parent.mkdir(parents=True, exist_ok=True)
                _copied(path / inside, kept)
                self._damaged[node][path / inside] = kept
                _damage(path / inside, damage)
            if older is not None:
                self._bring_back(node, older, path, pattern)

    def _bring_back(self, node: str, copy: Path, path: Path, pattern: str) -> None:
        for inside in _matching(copy, pattern):
            (path / inside).parent.mkdir(exist_ok=True)
            self._damaged[node].setdefault(path / inside, None)
            _copied(copy / inside, path / inside)

    def repair(self, node: str) -> None:
        self._down(node)
        for path, kept in self._damaged.pop(node, {}).items():
            path.unlink(missing_ok=True)
            if kept is not None:
                path.parent.mkdir(exist_ok=True)
                _copied(kept, path)

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
            _move(path, unused_name(path, "before"))


def _contents(paths: Iterator[Path] | list[Path] | tuple[Path, ...]) -> Contents:
    partitions, size, digest = set(), 0, hashlib.sha256()
    for path in paths:
        digest.update("\n".join(_owner(path)).encode())
        for folder in _partitions(path):
            for segment in sorted(folder.glob("*.log")):
                partitions.add(folder.name)
                content = segment.read_bytes()
                size += len(content)
                digest.update(f"\n{folder.name}/{segment.name} {len(content)}\n".encode() + content)
    return Contents(frozenset(partitions), size, digest.hexdigest())


def _matching(path: Path, pattern: str) -> list[str]:
    """Return the files of a log directory that match, by their paths in it."""
    found = sorted(str(each.relative_to(path)) for each in path.rglob("*") if each.is_file())
    return [
        inside
        for inside in found
        if any(fnmatchcase(part, pattern) for part in (inside, Path(inside).name, str(Path(inside).parent)))
    ]


def _fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        return f"{path.stat().st_size} bytes, {hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"


def _damage(path: Path, damage: Damage) -> None:
    """Damage a file in its place, so that it keeps its owner."""
    size = path.stat().st_size
    match damage:
        case Damage.LOST | Damage.OLDER:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
        case Damage.CUT:
            os.truncate(path, size // 2)
        case Damage.GARBAGE:
            with path.open("r+b") as file:
                file.write(b"\xff" * size)


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


def unused_name(path: Path, ending: str) -> Path:
    """Return the first `PATH.ENDING-N` beside a path that does not exist yet, from N = 1."""
    number = 1
    while (name := path.with_name(f"{path.name}.{ending}-{number}")).exists():
        number += 1
    return name
