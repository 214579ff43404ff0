"""The interface of a driver, which configures and starts the nodes of a target, and the paths that it works with."""

from __future__ import annotations

import base64
import socket
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from ssl import SSLContext
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fencepost.harness.clients.login import Access
from fencepost.harness.clients.settings import ClientSettings
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.network.layout import Layout, Node
from fencepost.harness.network.tls import over_tls
from fencepost.harness.plan.model import NodeSettings, Timing
from fencepost.harness.plan.security import SECURITIES, Security
from fencepost.harness.processes.command import Command
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.identity import IdKeys

if TYPE_CHECKING:
    from fencepost.harness.targets.certificates import Authority

FILES = Path(__file__).parent
"""The folder of the shipped target files, and of the logging configurations of their nodes."""


class Reached(NamedTuple):
    """How the clients of a cluster that runs elsewhere connect, as its target file says."""

    access: Access
    settings: ClientSettings
    """Those of confluent-kafka's clients."""


@dataclass(frozen=True)
class Installation:
    """The paths of the nodes of one cluster, and the settings that they share."""

    layout: Layout
    timing: Timing
    cluster_id: str
    nodes: Path
    security: Security = SECURITIES["plaintext"]
    authority: Authority | None = None
    """The authority of the certificates, if listeners have TLS."""
    settings: NodeSettings | None = None
    """Those of the plan, which win over those of the target."""
    reached: Reached | None = None
    """Only of a cluster that runs elsewhere, whose listeners are not secured here."""

    def home(self, node: Node) -> Path:
        return self.nodes / node.name

    def tls(self, at: Endpoint) -> SSLContext | None:
        """Return the TLS by which a client reaches an endpoint of a node; None if it has none."""
        if self.reached is not None:
            return self.reached.access.tls
        if self.authority is None:
            return None
        listeners = (
            listener for node in self.layout.nodes for listener in node.listeners if node.endpoint(listener) == at
        )
        security = self.security.listeners
        is_secured = any(listener in security and security[listener].has_tls for listener in listeners)
        return self.authority.trusting if is_secured else None

    def dial(self, at: Endpoint, timeout: float) -> socket.socket:
        """Connect to an endpoint of a node, over TLS if it has that; seconds until TimeoutError. Raise OSError."""
        return over_tls(socket.create_connection(at, timeout), self.tls(at), at.host, timeout)

    def data(self, node: Node) -> Path:
        """Return the first log directory of a node. A duplicate may share that of its original."""
        shared = node.duplicate_of is not None and node.directory == "same"
        return self.home(self.layout.node(node.duplicate_of or "") if shared else node) / "data"

    def log_dirs(self, node: Node) -> tuple[Path, ...]:
        """Return all log directories of a node: `data`, `data-2`, `data-3` …"""
        first = self.data(node)
        return (first, *(first.with_name(f"{first.name}-{number}") for number in range(2, node.log_dirs + 1)))

    def properties(self, node: Node) -> Path:
        return self.home(node) / "node.properties"

    def hosts(self, node: Node) -> Path:
        return self.home(node) / "hosts"


class Target(Protocol):
    """The driver of a target: it configures and starts nodes of one version."""

    file: TargetFile
    version: str
    ids: IdKeys

    def prepare(self) -> None:
        """Fetch or build what every node needs. It may take minutes the first time, and no time later."""

    def properties(self, node: Node, installation: Installation) -> dict[str, str]:
        """Return the complete configuration of a node."""

    def files(self, node: Node, installation: Installation) -> Mapping[str, str]:
        """Return the texts of further configuration files, by their names in the folder of the node."""

    def format(self, node: Node, installation: Installation) -> None:
        """Make the empty directories of a node ready for its first start. They may exist already, as mounts."""

    def command(self, node: Node, installation: Installation) -> Command:
        """Return the command that starts a node whose files have been written."""

    def unready(self, nodes: Collection[Node], installation: Installation) -> str | None:
        """Return a message about the first of these nodes that does not serve requests yet, or None.

        Raise InfrastructureError if one gives an answer that will not change.
        """


def write_configuration(target: Target, node: Node, installation: Installation, home: Path | None = None) -> None:
    """Write all configuration files of a node into its folder, or into `home` in place of it."""
    home = home or installation.home(node)
    properties = target.properties(node, installation)
    if installation.settings is not None:
        properties |= installation.settings.of(controller=node.is_controller, broker=node.is_broker)
    if node.rack is not None:
        properties["broker.rack"] = node.rack
    for key, value in node.settings:
        if value is None:
            properties.pop(key, None)
        else:
            properties[key] = value.replace("{address}", node.address)
    write_properties(home / installation.properties(node).name, properties)
    if installation.authority is not None:
        installation.authority.install(node, installation.layout, home)
    for name, text in target.files(node, installation).items():
        (home / name).write_text(text)


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Write a file of `key=value` lines."""
    path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))


def new_uuid() -> str:
    """Return a random id in Kafka's format. It never starts with a dash, which Kafka's tools read as an option."""
    while True:
        text = uuid_text(uuid.uuid4())
        if not text.startswith("-"):
            return text


def uuid_text(id: uuid.UUID) -> str:
    """Return an id in Kafka's format."""
    return base64.urlsafe_b64encode(id.bytes).decode().rstrip("=")
