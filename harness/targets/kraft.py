"""Apache Kafka in KRaft mode, from plain jars."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Collection

from fencepost.harness.errors import UsageError
from fencepost.harness.network.layout import Layout, Node
from fencepost.harness.plan.owned import OF_KRAFT
from fencepost.harness.plan.security import PASSWORDS, Security
from fencepost.harness.processes.command import Command
from fencepost.harness.targets import jvm, listeners
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.identity import CLUSTER_ID, DIRECTORY_ID, META_PROPERTIES, IdKeys, read_properties
from fencepost.harness.targets.jars import ARTIFACT, SOURCES, is_at_home, major_minor
from fencepost.harness.targets.prepared import prepare, scram_arguments, storage_tool, with_scram_users
from fencepost.harness.targets.readiness import unready
from fencepost.harness.targets.security import kafka_properties
from fencepost.harness.targets.target import Installation, new_uuid, uuid_text, write_properties

METADATA_TOPIC = "__cluster_metadata"
CONTROLLERS_ADVERTISE = (3, 9)
"""Since this version controllers advertise a listener; without a configured name it is an address, which would bypass
the links. Earlier versions refuse the configuration."""


DYNAMIC = "dynamic"
"""The level at which the metadata log holds the voters, and requests add and remove them (KIP-853)."""


class ApacheKafka:
    """Configures and starts nodes of Apache Kafka in KRaft mode."""

    ids = IdKeys("node.id", ("node.id",))
    owned = OF_KRAFT
    artifact = ARTIFACT
    keeps_scram_users = True

    def __init__(self, file: TargetFile, version: str) -> None:
        major_minor(version)
        if not is_at_home(version):
            file.check_release(version, SOURCES)
        self.file = file
        self.version = version

    def unsecurable(self, security: Security) -> str | None:
        if security.controller.mechanism not in (None, "PLAIN"):
            return (
                f"controllers of {self.file.name} cannot log in to each other by {security.controller.mechanism}: "
                "the users are in the log for which they have to elect a leader first"
            )
        return None

    def prepare(self) -> None:
        jvm.require_java()
        prepare(self.version, self._java)

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        if node.controller_id is not None:
            raise UsageError(
                f"{node.name} has a `controller_id`, but a node of {self.file.name} has one id for both roles: drop it"
            )
        layout = installation.layout
        properties = {
            "process.roles": ",".join(sorted(node.roles)),
            "node.id": str(node.id),
            **_quorum(node, layout),
            "listeners": listeners.listeners(node),
            "controller.listener.names": "CONTROLLER",
            **kafka_properties(node, installation),
            "log.dirs": ",".join(str(log_dir.absolute()) for log_dir in installation.log_dirs(node)),
        }
        if node.is_broker:
            properties["inter.broker.listener.name"] = "INTERNAL"
        advertised = listeners.advertised_listeners(node, layout).split(",")
        if major_minor(self.version) < CONTROLLERS_ADVERTISE:
            advertised = [listener for listener in advertised if not listener.startswith("CONTROLLER:")]
        if advertised:
            properties["advertised.listeners"] = ",".join(advertised)
        return properties | self.file.properties(node, installation.timing)

    def files(self, node: Node, installation: Installation) -> dict[str, str]:
        return {}

    def format(self, node: Node, installation: Installation) -> None:
        """Copy what StorageTool formatted once for this role, and write the ids of this node and cluster into it.

        The directory of a voter at the level `dynamic` names all first voters, so it is formatted for this cluster.
        """
        if node.level == DYNAMIC and node.begins_quorum:
            self._format_voter(node, installation)
        else:
            self._copy_formatted(node, installation)

    def _copy_formatted(self, node: Node, installation: Installation) -> None:
        made = prepare(self.version, self._java)
        for number, data in enumerate(installation.log_dirs(node)):
            formatted = made.log_dir(number, controller=node.is_controller)
            if number == 0 and node.is_controller and _has_scram(installation):
                formatted = with_scram_users(self.version, self._java, PASSWORDS)
            shutil.copytree(formatted, data, dirs_exist_ok=True)
            identity = read_properties(data / META_PROPERTIES)
            identity |= {CLUSTER_ID: installation.cluster_id, "node.id": str(node.id)}
            if DIRECTORY_ID in identity:
                identity[DIRECTORY_ID] = new_uuid()
            write_properties(data / META_PROPERTIES, identity)

    def command(self, node: Node, installation: Installation) -> Command:
        flags = [
            *jvm.name_table(node, installation),
            *jvm.shared_classes(prepare(self.version, self._java).classes),
        ]
        return Command(self._java(*flags, "kafka.Kafka", str(installation.properties(node))))

    def unready(self, nodes: Collection[Node], installation: Installation) -> str | None:
        return unready(nodes, installation, METADATA_TOPIC)

    def _format_voter(self, node: Node, installation: Installation) -> None:
        voters = installation.layout.first_voters
        directories = ((voter, _directory_id(voter, installation)) for voter in voters)
        named = (f"{listeners.voter(voter)}:{directory}" for voter, directory in directories)
        begins = ["--initial-controllers", ",".join(named)] if len(voters) > 1 else ["--standalone"]
        ids = ["--cluster-id", installation.cluster_id, "--config", str(installation.properties(node))]
        users = scram_arguments(PASSWORDS) if _has_scram(installation) else []
        storage_tool(self.version, self._java, installation.log_dirs(node), *ids, *begins, *users)

    def _java(self, *arguments: str) -> list[str]:
        return jvm.kafka(self.version, *arguments)


def _quorum(node: Node, layout: Layout) -> dict[str, str]:
    """Return how a node finds the quorum: by its voters, or by controllers that know them."""
    if node.level == DYNAMIC:
        return {"controller.quorum.bootstrap.servers": listeners.first_controllers(layout)}
    return {"controller.quorum.voters": listeners.voters(layout)}


def _has_scram(installation: Installation) -> bool:
    return not {"PLAIN"}.issuperset(installation.security.mechanisms)


def _directory_id(voter: Node, installation: Installation) -> str:
    """Return the id of a first voter's directory: every voter is formatted with those of all."""
    return uuid_text(uuid.uuid5(uuid.NAMESPACE_URL, f"{installation.cluster_id}/{voter.name}"))
