"""The watches that all ZooKeeper servers of a run hold together."""

from __future__ import annotations

import time
from dataclasses import asdict

from fencepost.harness.clients.zookeeper.watches import ALL, WatchCounts, count_watches
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.network.layout import Listener

WATCHES_WITHIN, WATCHES_EVERY = 5.0, 0.25
"""Seconds for a server to list its watches, and between two such requests."""


class WatchCount:
    """The number of watches of one kind. It asks the servers at most four times a second."""

    def __init__(self, cluster: Cluster, kind: str, topics: str | None) -> None:
        self._kind, self._topics = kind, topics or ALL
        self._servers = [
            cluster.probe_address(node.name, Listener.ZOOKEEPER)
            for node in cluster.plan.topology.nodes
            if "zookeeper" in node.roles and node.start == "now"
        ]
        self._ask_at = 0.0
        self._counts: WatchCounts | None = None

    def __call__(self) -> int | None:
        if time.monotonic() >= self._ask_at:
            self._counts = count_watches(self._servers, WATCHES_WITHIN, self._topics)
            self._ask_at = time.monotonic() + WATCHES_EVERY
        return None if self._counts is None else self._counts.of(self._kind)

    @property
    def found(self) -> dict[str, object]:
        return {} if self._counts is None else {"watches": {**asdict(self._counts), "any": self._counts.any}}
