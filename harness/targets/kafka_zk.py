"""Apache Kafka with ZooKeeper, from plain jars: 3.9 and older."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Collection
from functools import cached_property
from pathlib import Path

from harness.backends.backend import Command
from harness.errors import UsageError
from harness.network.layout import Layout, Node
from harness.targets import jvm, listeners
from harness.targets.archives import free_port, recording, running, says
from harness.targets.identity import WITH_ZOOKEEPER
from harness.targets.jars import COMPLETE, cache_folder, kafka_jars, locked, major_minor
from harness.targets.readiness import unready_with_zookeeper
from harness.targets.security import refuse_sasl
from harness.targets.target import Installation, TargetFile, write_properties
from harness.targets.zookeeper import ZooKeeperServers, connect
from harness.targets.zookeeper_jars import kafka_s, zookeeper_jars

WITHOUT_ZOOKEEPER = (4, 0)
BRINGS_USABLE_ZOOKEEPER = (3, 0)
"""Servers before ZooKeeper 3.6 hand each other the addresses at which they listen, past all links."""
STARTED = "[KafkaServer id=1] started"
FLAGS = (
    # Whether the server's name has a principal would be looked up by its address, in vain.
    "-Dzookeeper.sasl.client=false",
)


class ApacheKafkaZk:
    ids = WITH_ZOOKEEPER

    def __init__(self, file: TargetFile, version: str) -> None:
        if major_minor(version) >= WITHOUT_ZOOKEEPER:
            raise UsageError(f"Apache Kafka {version} runs without ZooKeeper: ask for apache-kafka:{version}")
        self.file = file
        self.version = version

    def prepare(self) -> None:
        jvm.require_java()
        self._servers.prepare()
        self._prepare_broker()

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        if node.is_zookeeper:
            return self._servers.properties(node, installation)
        refuse_sasl(self.file.name, installation)
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

    def format(self, node: Node, installation: Installation) -> None:
        """A broker writes its own meta.properties into empty directories."""
        if node.is_zookeeper:
            self._servers.format(node, installation)
            return
        for folder in installation.log_dirs(node):
            folder.mkdir(exist_ok=True)

    def command(self, node: Node, installation: Installation) -> Command:
        if node.is_zookeeper:
            return self._servers.command(node, installation)
        flags = [*jvm.name_table(node, installation), *jvm.shared_classes(self._classes), *FLAGS]
        return Command(jvm.kafka(self.version, *flags, "kafka.Kafka", str(installation.properties(node))))

    def unready(self, nodes: Collection[Node], layout: Layout) -> str | None:
        return unready_with_zookeeper(nodes)

    @cached_property
    def _servers(self) -> ZooKeeperServers:
        old = major_minor(self.version) < BRINGS_USABLE_ZOOKEEPER
        return ZooKeeperServers(zookeeper_jars() if old else kafka_s(kafka_jars(self.version)))

    @property
    def _classes(self) -> Path:
        return cache_folder() / f"prepared-zk-{self.version}" / "classes.jsa"

    def _prepare_broker(self) -> None:
        """Record the classes of a broker, from one that is started and stopped alone, unless that was done."""
        folder = self._classes.parent
        with locked(folder):
            if (folder / COMPLETE).exists():
                return
            print(f"preparing Apache Kafka {self.version} for quick starts", file=sys.stderr, flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            with tempfile.TemporaryDirectory() as scratch:
                self._record(Path(scratch))
            if not self._classes.exists():
                print("no class archive could be recorded: nodes start slower", file=sys.stderr, flush=True)
            (folder / COMPLETE).touch()

    def _record(self, scratch: Path) -> None:
        properties, log = scratch / "node.properties", scratch / "node.log"
        with self._servers.lonely(scratch) as zookeeper:
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
            command = jvm.kafka(self.version, *FLAGS, recording(self._classes), "kafka.Kafka", str(properties))
            with running(command, log, says(log, STARTED)):
                pass
