"""Apache Kafka with ZooKeeper, from plain jars: 3.9 and older."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path

from fencepost.harness.cache_folder import cache_folder
from fencepost.harness.errors import UsageError
from fencepost.harness.network.layout import Node
from fencepost.harness.plan.owned import OF_KAFKA_ZK
from fencepost.harness.processes.command import Command
from fencepost.harness.targets import jvm, listeners
from fencepost.harness.targets.archives import CLASSES, free_port, prepared, record
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.identity import WITH_ZOOKEEPER
from fencepost.harness.targets.jars import ARTIFACT, SOURCES, is_at_home, kafka_jars, major_minor
from fencepost.harness.targets.readiness import unready_with_zookeeper
from fencepost.harness.targets.target import Installation, write_properties
from fencepost.harness.targets.zookeeper import ZooKeeperServers, connect
from fencepost.harness.targets.zookeeper_jars import from_kafka, zookeeper_jars

WITHOUT_ZOOKEEPER = (4, 0)
BRINGS_USABLE_ZOOKEEPER = (3, 0)
"""Servers before ZooKeeper 3.6 send each other the addresses at which they listen, so they would bypass the links."""
STARTED = ("[KafkaServer id=1] started", "[Kafka Server 1], started")
"""The line of a broker that has started: since 1.0, and before."""
FLAGS = (
    # Without this the client looks up the name of the server by its address, which fails.
    "-Dzookeeper.sasl.client=false",
)


class ApacheKafkaZk:
    """Configures and starts brokers of Apache Kafka and their ZooKeeper servers."""

    ids = WITH_ZOOKEEPER
    owned = OF_KAFKA_ZK
    artifact = ARTIFACT

    def __init__(self, file: TargetFile, version: str) -> None:
        if major_minor(version) >= WITHOUT_ZOOKEEPER:
            raise UsageError(f"Apache Kafka {version} runs without ZooKeeper: ask for apache-kafka:{version}")
        if not is_at_home(version):
            file.check_release(version, SOURCES)
        self.file = file
        self.version = version

    def prepare(self) -> None:
        jvm.require_java()
        self._servers.prepare()
        prepared(self._prepared, f"Apache Kafka {self.version}", self._record)

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        if node.is_zookeeper:
            return self._servers.properties(node, installation)
        properties = {
            "broker.id": str(node.id),
            "zookeeper.connect": connect(installation.layout),
            "listeners": listeners.listeners(node),
            "advertised.listeners": listeners.advertised_listeners(node, installation.layout),
            "inter.broker.listener.name": "INTERNAL",
            "listener.security.protocol.map": listeners.BROKER_SECURITY,
            "log.dirs": ",".join(map(str, installation.log_dirs(node))),
        }
        return properties | self.file.properties(node, installation.timing)

    def files(self, node: Node, installation: Installation) -> dict[str, str]:
        return {}

    def format(self, node: Node, installation: Installation) -> None:
        """Make the directories; a broker writes its own meta.properties into empty ones."""
        if node.is_zookeeper:
            self._servers.format(node, installation)
            return
        for folder in installation.log_dirs(node):
            folder.mkdir(exist_ok=True)

    def command(self, node: Node, installation: Installation) -> Command:
        if node.is_zookeeper:
            return self._servers.command(node, installation)
        flags = [*jvm.name_table(node, installation), *jvm.shared_classes(cache_folder() / self._prepared / CLASSES)]
        return Command(self._java(*flags, installation.properties(node)))

    def unready(self, nodes: Collection[Node], installation: Installation) -> str | None:
        return unready_with_zookeeper(nodes, installation)

    @cached_property
    def _servers(self) -> ZooKeeperServers:
        old = major_minor(self.version) < BRINGS_USABLE_ZOOKEEPER
        return ZooKeeperServers(zookeeper_jars() if old else from_kafka(kafka_jars(self.version)))

    def _java(self, *arguments: str | Path) -> list[str]:
        *flags, properties = map(str, arguments)
        return jvm.kafka(self.version, *FLAGS, *flags, "kafka.Kafka", properties)

    @property
    def _prepared(self) -> str:
        return f"prepared-zk-{self.version}"

    def _record(self, folder: Path) -> None:
        scratch = folder.parent
        properties = scratch / "node.properties"
        with self._servers.standalone(scratch) as zookeeper:
            write_properties(
                properties,
                {
                    "broker.id": "1",
                    "zookeeper.connect": str(zookeeper),
                    "listeners": f"INTERNAL://127.0.0.1:{free_port()}",
                    "inter.broker.listener.name": "INTERNAL",
                    "listener.security.protocol.map": "INTERNAL:PLAINTEXT",
                    "log.dirs": str(scratch / "data"),
                },
            )
            record(folder, self.version, lambda *flags: self._java(*flags, properties), *STARTED)
