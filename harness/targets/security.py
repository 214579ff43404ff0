"""The configuration of secured listeners under Kafka's names, and how the harness itself connects to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fencepost.harness.clients.login import PLAINTEXT, Access, Credentials
from fencepost.harness.clients.settings import ClientSettings
from fencepost.harness.network.layout import Listener, Node
from fencepost.harness.plan.security import BROKER_USER, CLIENT_USER, PASSWORDS, SaslMechanism, Security
from fencepost.harness.targets.certificates import KEYSTORE, TRUSTSTORE
from fencepost.harness.targets.target import Installation

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def access(listener: Listener, installation: Installation) -> Access:
    """Return how the harness connects to a listener: to those between nodes as the nodes do."""
    if installation.reached is not None:
        return installation.reached.access
    security = installation.security.listeners.get(listener)
    if security is None:
        return PLAINTEXT
    authority = installation.authority if security.has_tls else None
    return Access(credentials(listener, installation.security), None if authority is None else authority.trusting)


def credentials(listener: Listener, security: Security) -> Credentials | None:
    """Return those of the harness at a listener; None where there are no logins."""
    mechanism = security.listeners[listener].mechanism
    user = CLIENT_USER if listener is Listener.CLIENT else BROKER_USER
    return None if mechanism is None else Credentials(user, PASSWORDS[user], mechanism)


def client_settings(installation: Installation) -> ClientSettings:
    """Return the settings of confluent-kafka's clients for the CLIENT listener."""
    if installation.reached is not None:
        return installation.reached.settings
    security = installation.security.client
    if security.protocol == "PLAINTEXT":
        return {}
    settings: ClientSettings = {"security.protocol": security.protocol}
    if security.has_tls and installation.authority is not None:
        settings["ssl.ca.location"] = str(installation.authority.certificate)
    if security.mechanism is not None:
        settings["sasl.mechanism"] = security.mechanism
        settings |= {"sasl.username": CLIENT_USER, "sasl.password": PASSWORDS[CLIENT_USER]}
    return settings


def kafka_properties(node: Node, installation: Installation) -> dict[str, str]:
    """Return the properties that secure the listeners of a node of Apache Kafka without ZooKeeper."""
    security = installation.security
    properties = _properties(node, installation, _BY_QUORUM)
    if security.controller.mechanism is not None:
        properties["sasl.mechanism.controller.protocol"] = security.controller.mechanism
    for listener in _served(node, _BY_QUORUM):
        mechanism = security.listeners[listener].mechanism
        if mechanism is not None:
            properties[f"listener.name.{listener.lower()}.sasl.enabled.mechanisms"] = mechanism
    return properties | (_authorizer(security) if security.mechanisms else {})


def reference_properties(node: Node, installation: Installation, *, with_zookeeper: bool = False) -> dict[str, str]:
    """Return the same for a node of the reference cluster.

    Where clients do not log in, only the requests between nodes need a permission, by a file of none.
    """
    security = installation.security
    properties = _properties(node, installation, _BY_ZOOKEEPER if with_zookeeper else _BY_QUORUM)
    if not security.mechanisms:
        return properties
    properties["sasl.enabled.mechanisms"] = ",".join(security.mechanisms)
    if security.controller.mechanism is not None and not with_zookeeper:
        properties["sasl.mechanism.controller.protocol"] = security.controller.mechanism
    if security.client.mechanism is not None:
        return properties | _authorizer(security)
    return properties | {"super.users": f"User:{BROKER_USER}", "authorizer.acls": str(_acls(node, installation))}


def write_acls(node: Node, installation: Installation) -> None:
    """Write the file of permissions that a node of the reference cluster may read."""
    if installation.security.mechanisms:
        _acls(node, installation).touch()


_BY_QUORUM = (Listener.CONTROLLER, Listener.INTERNAL, Listener.CLIENT)
_BY_ZOOKEEPER = (Listener.INTERNAL, Listener.CLIENT)


def _properties(node: Node, installation: Installation, listeners: Sequence[Listener]) -> dict[str, str]:
    """Return protocols, TLS and logins, which are the same for all designs with these listeners."""
    security = installation.security
    protocols = (f"{listener}:{security.listeners[listener].protocol}" for listener in listeners)
    properties = {"listener.security.protocol.map": ",".join(protocols)}
    if installation.authority is not None:
        home = installation.home(node)
        properties |= {f"ssl.{store}.type": "PEM" for store in ("keystore", "truststore")}
        properties |= {"ssl.keystore.location": str(home / KEYSTORE), "ssl.truststore.location": str(home / TRUSTSTORE)}
    for listener in _served(node, listeners):
        mechanism = security.listeners[listener].mechanism
        if mechanism is not None:
            properties[login_module_key(listener, mechanism)] = login_module(listener, mechanism)
    if node.is_broker and security.internal.mechanism is not None:
        properties["sasl.mechanism.inter.broker.protocol"] = security.internal.mechanism
    return properties


def _served(node: Node, listeners: Sequence[Listener]) -> Sequence[Listener]:
    """Return those of the listeners that a node has or connects to: a controller only those of controllers."""
    return listeners if node.is_broker else tuple(each for each in listeners if each is Listener.CONTROLLER)


def login_module(listener: Listener, mechanism: SaslMechanism, passwords: Mapping[str, str] = PASSWORDS) -> str:
    """Return a login module. Apache Kafka finds the users of SCRAM in its metadata, and ignores those in the module."""
    own = "" if listener is Listener.CLIENT else f'username="{BROKER_USER}" password="{PASSWORDS[BROKER_USER]}" '
    users = " ".join(f'user_{name}="{password}"' for name, password in passwords.items())
    return f"{_MODULES[mechanism]} required {own}{users};"


def login_module_key(listener: Listener, mechanism: SaslMechanism) -> str:
    return f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config"


def _authorizer(security: Security) -> dict[str, str]:
    """Return the properties by which access control entries are enforced. Without a login all are super users."""
    users = [BROKER_USER, CLIENT_USER]
    if any(each.mechanism is None for each in security.listeners.values()):
        users.append("ANONYMOUS")
    return {"authorizer.class.name": AUTHORIZER, "super.users": ";".join(f"User:{user}" for user in users)}


def _acls(node: Node, installation: Installation) -> Path:
    return installation.home(node) / "acls"
