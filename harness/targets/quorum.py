"""The reference cluster, design `quorum`, which the harness knows only as a program with Kafka's configuration."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.harness.errors import UsageError
from fencepost.harness.network.layout import Node
from fencepost.harness.plan.owned import OF_REFERENCE
from fencepost.harness.plan.security import Security
from fencepost.harness.processes.command import Command
from fencepost.harness.targets import listeners, reference
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.identity import IdKeys
from fencepost.harness.targets.readiness import unready
from fencepost.harness.targets.security import reference_properties, write_acls
from fencepost.harness.targets.target import Installation

METADATA_TOPIC = "__kafka_metadata"


class Quorum:
    """Configures and starts nodes of the design `quorum`."""

    ids = IdKeys("node.id", ("broker.id", "controller.id"))
    owned = OF_REFERENCE
    plants_defects = True

    def __init__(self, file: TargetFile, version: str) -> None:
        if version != file.version:
            raise UsageError(f"{file.name} has no version {version!r}: it is run from this source tree")
        reference.check_defect()
        self.file = file
        self.version = version

    def unsecurable(self, security: Security) -> str | None:
        return None

    def prepare(self) -> None:
        """Do nothing: the program is installed with the harness."""

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        layout = installation.layout
        properties = {
            "process.roles": ",".join(sorted(node.roles)),
            "cluster.id": installation.cluster_id,
            "controller.connect": listeners.voters(layout),
            "log.dirs": str(installation.data(node)),
            "hosts.file": str(installation.hosts(node)),
        }
        if node.is_controller:
            properties |= {"controller.id": str(node.quorum_id), "controller.listeners": "CONTROLLER"}
        if node.is_broker:
            properties |= {"broker.id": str(node.id), "inter.broker.listener.name": "INTERNAL"}
        if node.is_combined:
            properties["metadata.log.dir"] = str(installation.home(node) / "metadata")
        properties["listeners"] = listeners.listeners(node)
        properties["advertised.listeners"] = listeners.advertised_listeners(node, layout)
        if installation.security.secures:
            properties["controller.listeners"] = "CONTROLLER"
        properties |= reference_properties(node, installation)
        return properties | self.file.properties(node, installation.timing)

    def files(self, node: Node, installation: Installation) -> dict[str, str]:
        return {}

    def format(self, node: Node, installation: Installation) -> None:
        """Make the directory; the node writes its own meta.properties into an empty one."""
        installation.data(node).mkdir(exist_ok=True)
        write_acls(node, installation)

    def command(self, node: Node, installation: Installation) -> Command:
        return reference.command(installation.properties(node))

    def unready(self, nodes: Collection[Node], installation: Installation) -> str | None:
        return unready(nodes, installation, METADATA_TOPIC)
