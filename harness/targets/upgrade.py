"""Two releases of one target in one cluster: each node is configured and started by the driver of its own release."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from fencepost.harness.network.layout import Node
from fencepost.harness.processes.command import Command
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.target import Installation, Target


class UpgradedTarget:
    """The driver of a target that is upgraded, `apache-kafka:3.9.2..4.4.0`. All nodes start with the old release.

    A node without a level of its own is at the protocol level `old`, if the file has it: a release that is started
    before all nodes have it speaks as the earlier one does.
    """

    def __init__(self, file: TargetFile, version: str, old: Target, new: Target) -> None:
        self.file = file
        self.version = version
        self.ids = old.ids
        self._old, self._new = old, new

    def prepare(self) -> None:
        self._old.prepare()
        self._new.prepare()

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        return self._of(node).properties(self._at_level(node), installation)

    def files(self, node: Node, installation: Installation) -> Mapping[str, str]:
        return self._of(node).files(self._at_level(node), installation)

    def format(self, node: Node, installation: Installation) -> None:
        """Let the old release format the directories, also for a node that lost them: its cluster began with it."""
        self._old.format(node, installation)

    def command(self, node: Node, installation: Installation) -> Command:
        command = self._of(node).command(self._at_level(node), installation)
        return replace(command, version=self._of(node).version)

    def unready(self, nodes: Collection[Node], installation: Installation) -> str | None:
        return self._old.unready(nodes, installation)

    def _of(self, node: Node) -> Target:
        return self._new if node.release == "new" else self._old

    def _at_level(self, node: Node) -> Node:
        at_old = node.level is None and node.is_broker and "old" in self.file.levels
        return replace(node, level="old") if at_old else node
