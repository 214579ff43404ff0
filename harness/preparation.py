"""What has to be there before a node's process is: a mount under its directories, a library in front of its clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from harness.network.layout import Node


class Preparation(Protocol):
    """Something that nodes are started upon. It decides by the node whether it has anything to do."""

    def prepare(self, node: Node) -> None:
        """Called before a node's files are first written and before every start, so it is repeatable.

        The node's folder is there; of its log directories none is at first, and those that this makes are filled.
        What fails is raised as InfrastructureError: the node is not started then.
        """

    def environment(self, node: Node) -> Mapping[str, str]:
        """What its process finds in its environment besides what its command says. Asked at every start."""
