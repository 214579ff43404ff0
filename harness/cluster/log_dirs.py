"""Log directories of nodes, taken away and put back: by renaming, or by the rules of the mount that lies over them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from fencepost.faults.capabilities import CHANGES, Broken, CapabilityError, DirState, DiskRule, Disks, Operation
from fencepost.harness.cluster.directories import unused_name
from fencepost.harness.network.layout import Layout
from fencepost.harness.targets.target import Installation

ANSWERS = {Broken.REPLACED: "ENOTDIR", Broken.REMOVED: "ENOENT"}
BY_NAME = (CHANGES - {Operation.WRITE}) | {Operation.OPEN}
"""All that names a file. What goes through an open one goes on."""


class NodeLogDirs:
    """Implements `fencepost.faults.capabilities.LogDirs`: `data` stands aside as `data.aside`.

    A mount cannot be renamed, so where `disk: breakable` says that there is one, it gives the same answers.
    """

    def __init__(self, layout: Layout, installation: Installation, disks: Disks) -> None:
        self._layout = layout
        self._installation = installation
        self._disks = disks

    def holding(self, node: str, partition: str) -> int:
        for number, path in enumerate(self._paths(node)):
            if (path / partition).is_dir():
                return number
        raise CapabilityError(f"no log directory of {node} holds {partition}")

    def break_(self, node: str, number: int, how: Broken) -> None:
        path = self._path(node, number)
        if self._layout.node(node).disk == "breakable":
            self._disks.add(node, f"log-dir-{number}", DiskRule(BY_NAME, error=ANSWERS[how]), number)
            return
        if not _aside(path).exists():
            path.rename(_aside(path))
        if how is Broken.REPLACED:
            path.touch()

    def restore(self, node: str, number: int) -> None:
        path = self._path(node, number)
        if self._layout.node(node).disk == "breakable":
            self._disks.remove(node, f"log-dir-{number}")
        if not _aside(path).exists():
            return
        if path.is_dir():  # a process made it in place of the missing one
            path.rename(unused_name(path, "meanwhile"))
        else:
            path.unlink(missing_ok=True)
        _aside(path).rename(path)

    def state(self, node: str, number: int) -> DirState:
        path = self._path(node, number)
        try:
            next(os.scandir(path), None)
        except OSError as error:
            return DirState(str(path), errno.errorcode.get(error.errno or 0, str(error)))
        return DirState(str(path), None)

    def _paths(self, node: str) -> tuple[Path, ...]:
        return self._installation.log_dirs(self._layout.node(node))

    def _path(self, node: str, number: int) -> Path:
        paths = self._paths(node)
        if number >= len(paths):
            raise CapabilityError(f"{node} has no log directory {number}: it has {len(paths)}, counted from 0")
        return paths[number]


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.aside")
