"""Users of a cluster whose nodes log in to each other (`security: sasl` of a plan)."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.errors import UsageError
from fencepost.harness.network.layout import Node
from fencepost.harness.targets.target import Installation

BROKER_USER = "broker"
"""The user as which nodes log in to each other; it has all rights."""
PASSWORDS = {BROKER_USER: "broker-password", "alice": "alice-password"}
"""The user `alice` may log in and has no rights."""
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def acls_file(node: Node, installation: Installation) -> Path:
    """Return the path of a node's access control list."""
    return installation.home(node) / "acls"


def internal_sasl(node: Node, installation: Installation) -> dict[str, str]:
    """Return the properties that make the INTERNAL listener require a login, with the login of this node."""
    users = " ".join(f'user_{name}="{password}"' for name, password in PASSWORDS.items())
    own = f'username="{BROKER_USER}" password="{PASSWORDS[BROKER_USER]}"'
    return {
        "listener.security.protocol.map": "INTERNAL:SASL_PLAINTEXT,CLIENT:PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.internal.plain.sasl.jaas.config": f"{MODULE} required {own} {users};",
        "super.users": f"User:{BROKER_USER}",
        "authorizer.acls": str(acls_file(node, installation)),
    }


def refuse_sasl(name: str, installation: Installation) -> None:
    """Raise UsageError if the plan asks for logins, in a driver that cannot configure them."""
    if installation.security != "plaintext":
        raise UsageError(
            f"{name} does not support `security: {installation.security}`: drop it, or choose another target"
        )
