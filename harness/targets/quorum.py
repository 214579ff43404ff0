"""The reference cluster, design `quorum`: known to the harness only as a program with Kafka's configuration names."""

from __future__ import annotations

import sys
from collections.abc import Collection

from harness.backends.backend import Command
from harness.errors import UsageError
from harness.network.layout import Layout, Node
from harness.targets import listeners
from harness.targets.identity import IdKeys
from harness.targets.readiness import unready
from harness.targets.security import refuse_sasl
from harness.targets.target import Installation, TargetFile

METADATA_TOPIC = "__kafka_metadata"
PROGRAM = "cluster_impl"


class Quorum:
    ids = IdKeys("node.id", ("broker.id", "controller.id"))

    def __init__(self, file: TargetFile, version: str) -> None:
        if version != file.version:
            raise UsageError(f"{file.name} has no version {version!r}: it is run from this source tree")
        self.file = file
        self.version = version

    def prepare(self) -> None:
        """Nothing to do: its program is installed with the harness."""

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        refuse_sasl(self.file.name, installation)
        layout = installation.layout
        properties = {
            "process.roles": ",".join(sorted(node.roles)),
            "cluster.id": installation.cluster_id,
            "controller.connect": listeners.voters(layout),
            "listener.security.protocol.map": listeners.SECURITY,
            "log.dirs": str(installation.data(node)),
            "hosts.file": str(installation.hosts(node)),
        }
        if node.is_controller:
            properties |= {"controller.id": str(node.id), "controller.listeners": "CONTROLLER"}
        if node.is_broker:
            properties |= {"broker.id": str(node.id), "inter.broker.listener.name": "INTERNAL"}
        properties["listeners"] = listeners.listeners(node)
        properties["advertised.listeners"] = listeners.advertised_listeners(node, layout)
        return properties | self.file.properties(node, installation.timing)

    def format(self, node: Node, installation: Installation) -> None:
        """The node writes its own meta.properties into an empty directory."""
        installation.data(node).mkdir(exist_ok=True)

    def command(self, node: Node, installation: Installation) -> Command:
        return Command([sys.executable, "-m", PROGRAM, str(installation.properties(node))])

    def unready(self, nodes: Collection[Node], layout: Layout) -> str | None:
        return unready(nodes, layout, METADATA_TOPIC)
