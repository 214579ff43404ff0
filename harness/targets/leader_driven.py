"""The reference cluster, design `leader-driven`: brokers without a controller, with real ZooKeeper servers."""

from __future__ import annotations

from fencepost.harness.network.layout import Node
from fencepost.harness.targets.target import Installation
from fencepost.harness.targets.zk_controller import ZkController

METRICS = "metrics.json"
"""File in a node's folder with its counters of state changes; the node replaces it every second."""


class LeaderDriven(ZkController):
    """Configures nodes as `zk-controller` does; `replication.design` selects the design in the program."""

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        properties = super().properties(node, installation)
        if node.is_zookeeper:
            return properties
        own = {"replication.design": "leader-driven", "metrics.file": str(installation.home(node) / METRICS)}
        return own | properties
