"""The interface of steps before the start of a node: mounts of its directories, a library for its clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from fencepost.harness.network.layout import Node


class Preparation(Protocol):
    """A step before the start of a node. It decides by the node whether it applies."""

    def prepare(self, node: Node) -> None:
        """Called before a node's files are first written and before every start, so it is repeatable.

        The node's folder is there; of its log directories none is at first, and those that this makes are filled.
        What fails is raised as InfrastructureError: the node is not started then.
        """

    def environment(self, node: Node) -> Mapping[str, str]:
        """Return environment variables for the process, besides those of its command. Called at every start."""
