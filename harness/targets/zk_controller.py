"""The reference cluster, design `zk-controller`: its brokers, with real ZooKeeper servers."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from fencepost.harness.errors import UsageError
from fencepost.harness.network.layout import Node
from fencepost.harness.plan.owned import OF_REFERENCE
from fencepost.harness.plan.security import SECURITIES, Security
from fencepost.harness.processes.command import Command
from fencepost.harness.targets import jvm, listeners, reference
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.identity import WITH_ZOOKEEPER
from fencepost.harness.targets.readiness import unready_with_zookeeper
from fencepost.harness.targets.security import reference_properties, write_acls
from fencepost.harness.targets.target import Installation
from fencepost.harness.targets.zookeeper import ZooKeeperServers, connect
from fencepost.harness.targets.zookeeper_jars import zookeeper_jars


class ZkController:
    """Configures and starts brokers of the design `zk-controller`, and their ZooKeeper servers."""

    ids = WITH_ZOOKEEPER
    owned = OF_REFERENCE
    plants_defects = True

    def __init__(self, file: TargetFile, version: str) -> None:
        if version != file.version:
            raise UsageError(f"{file.name} has no version {version!r}: it is run from this source tree")
        reference.check_defect()
        self.file = file
        self.version = version

    def unsecurable(self, security: Security) -> str | None:
        if security == SECURITIES["sasl"]:
            return None
        return f"{self.file.name} has only `security: sasl`"

    def prepare(self) -> None:
        jvm.require_java()
        self._servers.prepare()

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        """Return the configuration of a node. Without `process.roles` a broker runs with ZooKeeper."""
        if node.is_zookeeper:
            return self._servers.properties(node, installation)
        properties = {
            "broker.id": str(node.id),
            "zookeeper.connect": connect(installation.layout),
            "listeners": listeners.listeners(node),
            "advertised.listeners": listeners.advertised_listeners(node, installation.layout),
            "inter.broker.listener.name": "INTERNAL",
            "log.dirs": ",".join(map(str, installation.log_dirs(node))),
            "hosts.file": str(installation.hosts(node)),
        }
        return (
            properties
            | reference_properties(node, installation, with_zookeeper=True)
            | self.file.properties(node, installation.timing)
        )

    def files(self, node: Node, installation: Installation) -> dict[str, str]:
        return {}

    def format(self, node: Node, installation: Installation) -> None:
        """Make the directories; a broker writes its own meta.properties into empty ones."""
        if node.is_zookeeper:
            self._servers.format(node, installation)
            return
        for folder in installation.log_dirs(node):
            folder.mkdir(exist_ok=True)
        write_acls(node, installation)

    def command(self, node: Node, installation: Installation) -> Command:
        if node.is_zookeeper:
            return self._servers.command(node, installation)
        return reference.command(installation.properties(node))

    def unready(self, nodes: Collection[Node], installation: Installation) -> str | None:
        return unready_with_zookeeper(nodes, installation)

    @cached_property
    def _servers(self) -> ZooKeeperServers:
        return ZooKeeperServers(zookeeper_jars())
