"""Nodes of the `zk-controller` design as real processes around a real ZooKeeper, for tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.cluster_impl.processes import BROKERS, NodeProcess, address
from tests.cluster_impl.zookeeper import ZooKeeperServer, zookeeper
from tests.waiting import eventually

SETTINGS = {
    "zookeeper.session.timeout.ms": "1500",
    "zookeeper.connection.timeout.ms": "20000",
    "controller.heartbeat.timeout.ms": "1500",
    "broker.heartbeat.timeout.ms": "2500",
    "broker.heartbeat.interval.ms": "200",
    "controller.socket.timeout.ms": "2000",
    "request.timeout.ms": "2000",
    "controlled.shutdown.retry.backoff.ms": "1000",
    "replica.lag.time.max.ms": "1500",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "2",
    "group.initial.rebalance.delay.ms": "0",
}


class ZkCluster:
    """Brokers 4 to 6 on addresses of their own, with two log dirs each, and one ZooKeeper server."""

    def __init__(self, folder: Path, server: ZooKeeperServer, level: str, **settings: str) -> None:
        self.server = server
        self.folder = folder
        self._settings = {"zookeeper.connect": server.connect, **SETTINGS, **settings}
        self.nodes = {node: NodeProcess(folder, f"broker-{node}", self._properties(node, level)) for node in BROKERS}
        self.bootstrap = ",".join(f"{address(node)}:9092" for node in BROKERS)
        self.kazoo = KazooClient(hosts=server.connect)

    def _properties(self, node: int, level: str, at: str | None = None, folder: Path | None = None) -> dict[str, str]:
        host = at or address(node)
        dirs = [folder] if folder else [self.log_dir(node, index) for index in (0, 1)]
        return {
            "broker.id": str(node),
            "listeners": f"INTERNAL://{host}:9090,CLIENT://{host}:9092",
            "log.dirs": ",".join(map(str, dirs)),
            "inter.broker.protocol.version": level,
            **self._settings,
        }

    def at_level(self, node: int, level: str) -> None:
        """From its next start on."""
        self.nodes[node].configure(self._properties(node, level))

    def duplicate(self, node: int) -> NodeProcess:
        """A second process with the id, at an address and with a folder of its own."""
        properties = self._properties(node, "2.6", address(node + 100), self.folder / f"data-{node}-duplicate")
        return NodeProcess(self.folder, f"duplicate-{node}", properties)

    def epoch(self, node: int) -> int:
        """The czxid of its znode, -1 without one."""
        found = self.kazoo.retry(self.kazoo.exists, f"/brokers/ids/{node}")
        return found.czxid if found is not None else -1

    def log_dir(self, node: int, index: int) -> Path:
        return self.folder / f"data-{node}-{index}"

    def start(self) -> None:
        self.kazoo.start(timeout=20)
        for process in self.nodes.values():
            process.start()
        self.await_serving()

    def await_serving(self, *nodes: int) -> None:
        """Wait until these brokers, or all, are registered and serve clients."""
        for node in nodes or BROKERS:
            eventually(partial(self._is_started, node), f"broker {node} has started")
        for node in nodes or BROKERS:
            eventually(partial(self._is_informed, node), f"broker {node} knows of all brokers")

    def _is_started(self, node: int) -> bool:
        return self.nodes[node].says("the node has started") and str(node) in self.children("/brokers/ids")

    def _is_informed(self, node: int) -> bool:
        """Return True if its metadata names every broker, which a fenced one does not give at all."""
        try:
            metadata = AdminClient({"bootstrap.servers": f"{address(node)}:9092", "log_level": 0}).list_topics(
                "none", timeout=1
            )
        except KafkaException:
            return False
        return len(metadata.brokers) == len(BROKERS)

    def children(self, path: str) -> list[str]:
        try:
            found: list[str] = self.kazoo.retry(self.kazoo.get_children, path)
        except NoNodeError:
            return []
        return found

    def json(self, path: str) -> dict[str, Any]:
        """The document in a znode, empty without one."""
        try:
            found: dict[str, Any] = json.loads(self.kazoo.retry(self.kazoo.get, path)[0])
        except NoNodeError:
            return {}
        return found

    def state(self, topic: str, partition: int = 0) -> dict[str, Any]:
        return self.json(f"/brokers/topics/{topic}/partitions/{partition}/state")

    def controller(self) -> int:
        found: int = self.json("/controller").get("brokerid", -1)
        return found


@contextmanager
def running(folder: Path, level: str, **settings: str) -> Iterator[ZkCluster]:
    """A cluster of three brokers; all of it is ended at the end."""
    with zookeeper(folder) as server:
        cluster = ZkCluster(folder, server, level, **settings)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.kazoo.stop()
            cluster.kazoo.close()
            for node in cluster.nodes.values():
                node.end()
