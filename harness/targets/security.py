"""Users of a cluster whose nodes log in to each other (`security: sasl` of a plan)."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.clients.login import Credentials
from fencepost.harness.errors import UsageError
from fencepost.harness.network.layout import Listener, Node
from fencepost.harness.targets.target import Installation

BROKER_USER = "broker"
"""The user as which nodes log in to each other; it has all rights."""
PASSWORDS = {BROKER_USER: "broker-password", "alice": "alice-password"}
"""The user `alice` may log in and has no rights."""
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def credentials(listener: Listener, installation: Installation) -> Credentials | None:
    """Return those of a node for a listener that asks for a login; None for any other."""
    between_nodes = listener in (Listener.CONTROLLER, Listener.INTERNAL)
    if installation.security != "sasl" or not between_nodes:
        return None
    return Credentials(BROKER_USER, PASSWORDS[BROKER_USER])


def acls_file(node: Node, installation: Installation) -> Path:
    return installation.home(node) / "acls"


def with_logins(node: Node, installation: Installation, *listeners: Listener) -> dict[str, str]:
    """Return the properties that make these listeners require a login, with the login of this node."""
    users = " ".join(f'user_{name}="{password}"' for name, password in PASSWORDS.items())
    own = f'username="{BROKER_USER}" password="{PASSWORDS[BROKER_USER]}"'
    protocols = [f"{listener}:SASL_PLAINTEXT" for listener in listeners] + ["CLIENT:PLAINTEXT"]
    modules = {
        f"listener.name.{listener.lower()}.plain.sasl.jaas.config": f"{MODULE} required {own} {users};"
        for listener in listeners
    }
    return {
        "listener.security.protocol.map": ",".join(protocols),
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        **modules,
        "super.users": f"User:{BROKER_USER}",
        "authorizer.acls": str(acls_file(node, installation)),
    }


def refuse_sasl(name: str, installation: Installation) -> None:
    """Raise UsageError if the plan asks for logins, in a driver that cannot configure them."""
    if installation.security != "plaintext":
        raise UsageError(
            f"{name} does not support `security: {installation.security}`: drop it, or choose another target"
        )
