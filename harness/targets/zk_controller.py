"""The reference cluster, design `zk-controller`: brokers of its program around real ZooKeeper servers."""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import cached_property

from harness.backends.backend import Command
from harness.errors import UsageError
from harness.network.layout import Layout, Node
from harness.targets import jvm, listeners
from harness.targets.identity import WITH_ZOOKEEPER
from harness.targets.readiness import unready_with_zookeeper
from harness.targets.security import acls_file, internal_sasl
from harness.targets.target import Installation, TargetFile
from harness.targets.zookeeper import ZooKeeperServers, connect
from harness.targets.zookeeper_jars import zookeeper_jars

PROGRAM = "cluster_impl"


class ZkController:
    ids = WITH_ZOOKEEPER

    def __init__(self, file: TargetFile, version: str) -> None:
        if version != file.version:
            raise UsageError(f"{file.name} has no version {version!r}: it is run from this source tree")
        self.file = file
        self.version = version

    def prepare(self) -> None:
        jvm.require_java()
        self._servers.prepare()

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        """Without `process.roles`: that is what tells a node to run with ZooKeeper."""
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
            "hosts.file": str(installation.hosts(node)),
        }
        if installation.security == "sasl":
            properties |= internal_sasl(node, installation)
        return properties | self.file.properties(node, installation.timing)

    def format(self, node: Node, installation: Installation) -> None:
        """A broker writes its own meta.properties into empty directories."""
        if node.is_zookeeper:
            self._servers.format(node, installation)
            return
        for folder in installation.log_dirs(node):
            folder.mkdir(exist_ok=True)
        if installation.security == "sasl":
            acls_file(node, installation).touch()

    def command(self, node: Node, installation: Installation) -> Command:
        if node.is_zookeeper:
            return self._servers.command(node, installation)
        return Command([sys.executable, "-m", PROGRAM, str(installation.properties(node))])

    def unready(self, nodes: Collection[Node], layout: Layout) -> str | None:
        return unready_with_zookeeper(nodes)

    @cached_property
    def _servers(self) -> ZooKeeperServers:
        return ZooKeeperServers(zookeeper_jars())
