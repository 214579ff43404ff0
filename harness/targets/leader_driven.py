"""The reference cluster, design `leader-driven`: brokers without a controller around real ZooKeeper servers."""

from __future__ import annotations

from harness.network.layout import Node
from harness.targets.target import Installation
from harness.targets.zk_controller import ZkController

METRICS = "metrics.json"
"""In a node's folder: what it counts of its state changes, replaced every second."""


class LeaderDriven(ZkController):
    """Started as its sibling is; `replication.design` tells the program which of the two it is to be."""

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        properties = super().properties(node, installation)
        if node.is_zookeeper:
            return properties
        own = {"replication.design": "leader-driven", "metrics.file": str(installation.home(node) / METRICS)}
        return own | properties
