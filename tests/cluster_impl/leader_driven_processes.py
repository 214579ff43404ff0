"""Nodes of the `leader-driven` design as real processes around a real ZooKeeper, for tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    "replication.design": "leader-driven",
    "zookeeper.session.timeout.ms": "1500",
    "zookeeper.connection.timeout.ms": "20000",
    "leader.election.wait.time.ms": "1500",
    "preferred.replica.wait.time.ms": "300",
    "keep.in.sync.time.ms": "1500",
    "leader.tick.interval.ms": "100",
    "auto.leader.rebalance.enable": "false",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "2",
    "group.initial.rebalance.delay.ms": "0",
}


class LeaderDrivenCluster:
    """Brokers 4 to 6 on addresses of their own, with two log dirs each, and one ZooKeeper server."""

    def __init__(self, folder: Path, server: ZooKeeperServer, **settings: str) -> None:
        self.server = server
        self.folder = folder
        self._settings = {"zookeeper.connect": server.connect, **SETTINGS, **settings}
        self.nodes = {node: NodeProcess(folder, f"broker-{node}", self._properties(node)) for node in BROKERS}
        self.bootstrap = ",".join(f"{address(node)}:9092" for node in BROKERS)
        self.kazoo = KazooClient(hosts=server.connect)

    def _properties(self, node: int, at: str | None = None, name: str | None = None) -> dict[str, str]:
        host = at or address(node)
        name = name or str(node)
        return {
            "broker.id": str(node),
            "listeners": f"INTERNAL://{host}:9090,CLIENT://{host}:9092",
            "log.dirs": ",".join(str(self.folder / f"data-{name}-{index}") for index in (0, 1)),
            "metrics.file": str(self.folder / f"metrics-{name}.json"),
            **self._settings,
        }

    def duplicate(self, node: int) -> NodeProcess:
        """A second process with the id, at an address and with folders of its own."""
        name = f"{node}-duplicate"
        return NodeProcess(self.folder, f"broker-{name}", self._properties(node, address(node + 100), name))

    def log_dir(self, node: int, index: int) -> Path:
        return self.folder / f"data-{node}-{index}"

    def metrics(self, node: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / f"metrics-{node}.json").read_text())
        return found

    def folders(self, node: int) -> list[str]:
        """The partitions that have a folder on a broker."""
        return sorted(path.name for index in (0, 1) for path in self.log_dir(node, index).glob("*-*") if path.is_dir())

    def start(self) -> None:
        self.kazoo.start(timeout=20)
        for process in self.nodes.values():
            process.start()
        self.await_serving()

    def await_serving(self, *nodes: int) -> None:
        """Wait until these brokers, or all, have registered and serve clients."""
        for node in nodes or BROKERS:
            eventually(lambda node=node: self._serves(node), f"broker {node} serves")  # type: ignore[misc]

    def _serves(self, node: int) -> bool:
        """Return True if its metadata names every broker that is registered, itself among them."""
        ids = self.children("/brokers/ids")
        if str(node) not in ids:
            return False
        try:
            metadata = AdminClient({"bootstrap.servers": f"{address(node)}:9092"}).list_topics("none", timeout=1)
        except KafkaException:
            return False
        return len(metadata.brokers) == len(ids)

    def children(self, path: str) -> list[str]:
        try:
            found: list[str] = self.kazoo.retry(self.kazoo.get_children, path)
        except NoNodeError:
            return []
        return found

    def json(self, path: str) -> Any:
        """The document in a znode, None without one."""
        try:
            return json.loads(self.kazoo.retry(self.kazoo.get, path)[0])
        except NoNodeError:
            return None

    def leader(self, topic: str, partition: int = 0) -> int:
        """-1 without one that has its epoch."""
        found = self.json(f"/brokers/topics/{topic}/{partition}/leader")
        return found["broker"] if found is not None and found["epoch"] >= 0 else -1

    def isr(self, topic: str, partition: int = 0) -> list[int]:
        found = self.json(f"/brokers/topics/{topic}/{partition}/ISR")
        return sorted(found["isr"]) if found is not None else []

    def epoch(self, topic: str, partition: int = 0) -> int:
        found = self.json(f"/brokers/topics/{topic}/{partition}/ISR")
        return found["epoch"] if found is not None else -1

    def in_sync(self, topic: str, *expected: int, partition: int = 0) -> None:
        eventually(
            lambda: self.isr(topic, partition) == sorted(expected or BROKERS),
            f"the ISR of {topic}-{partition} is {expected or BROKERS}",
        )

    def write_topic(self, topic: str, partitions: Sequence[Sequence[int]], **config: str) -> None:
        """A topic as one that was created before, by its znodes; brokers learn of it when they start."""
        write_topic(self.kazoo, topic, partitions, **config)


def write_topic(kazoo: KazooClient, topic: str, partitions: Sequence[Sequence[int]], **config: str) -> None:
    settings = {name.replace("_", "."): value for name, value in config.items()}
    kazoo.create(f"/brokers/topics/{topic}", json.dumps({"config": settings}).encode(), makepath=True)
    for index, replicas in enumerate(partitions):
        path = f"/brokers/topics/{topic}/{index}"
        kazoo.create(path, b"")
        kazoo.create(f"{path}/replicas", json.dumps(list(replicas)).encode())


@contextmanager
def running(folder: Path, **settings: str) -> Iterator[LeaderDrivenCluster]:
    """A cluster of three brokers; all of it is ended at the end."""
    with zookeeper(folder) as server:
        cluster = LeaderDrivenCluster(folder, server, **settings)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.kazoo.stop()
            cluster.kazoo.close()
            for node in cluster.nodes.values():
                node.end()
