"""Users of a cluster whose nodes log in to each other (`security: sasl` of a plan)."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.network.layout import Node
from harness.targets.target import Installation

BROKER_USER = "broker"
"""Who the nodes are among themselves: may do everything."""
PASSWORDS = {BROKER_USER: "broker-password", "alice": "alice-password"}
"""`alice` may connect, and nothing is allowed to her."""
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def acls_file(node: Node, installation: Installation) -> Path:
    return installation.home(node) / "acls"


def internal_sasl(node: Node, installation: Installation) -> dict[str, str]:
    """What makes the INTERNAL listener ask for a login, and what this node logs in to others with."""
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
    """For a driver that knows no logins: UsageError if the plan wants them."""
    if installation.security != "plaintext":
        raise UsageError(f"the nodes of {name} are not set up for `security: {installation.security}`")
