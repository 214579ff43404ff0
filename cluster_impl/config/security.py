"""The keys of authentication (SASL/PLAIN on listeners) and authorization (a file of permissions)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from fencepost.cluster_impl.config import values
from fencepost.cluster_impl.config.table import ConfigError, Table, key
from fencepost.cluster_impl.config.values import SecurityProtocol

_JAAS = re.compile(r"listener\.name\.([^.]+)\.plain\.sasl\.jaas\.config")
JAAS_KEY_FORM = "listener.name.<name>.plain.sasl.jaas.config"
JAAS_HELP = (
    f"  {JAAS_KEY_FORM} (login module, required for a SASL_PLAINTEXT listener)\n"
    "      The login of this node, and the users that may log in."
)


def is_jaas_key(name: str) -> bool:
    return _JAAS.fullmatch(name) is not None


def jaas_key(listener: str) -> str:
    return JAAS_KEY_FORM.replace("<name>", listener.lower())


@dataclass(frozen=True, kw_only=True)
class SecurityConfig(Table):
    protocols: Mapping[str, SecurityProtocol] = key(
        "listener.security.protocol.map",
        values.SECURITY_PROTOCOLS,
        "Security protocol by listener name: NAME:PLAINTEXT or NAME:SASL_PLAINTEXT.",
        default="",
    )
    mechanisms: tuple[str, ...] = key(
        "sasl.enabled.mechanisms", values.SASL_MECHANISMS, "SASL mechanisms of the listeners.", default="PLAIN"
    )
    inter_broker_mechanism: str = key(
        "sasl.mechanism.inter.broker.protocol",
        values.SASL_MECHANISM,
        "The mechanism by which nodes log in to one another.",
        default="PLAIN",
    )
    super_users: frozenset[str] = key("super.users", values.PRINCIPALS, "Users with every permission.", default="")
    acls_file: Path | None = key(
        "authorizer.acls",
        values.FILE,
        "Permissions, one a line, as `User:alice Cluster ClusterAction Allow`. Without it every user has every one.",
        optional=True,
    )
    jaas: Mapping[str, str] = field(default_factory=dict)
    """The text of each listener's login module, by the listener's name in lower case."""

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        texts = {match[1].lower(): text for name, text in properties.items() if (match := _JAAS.fullmatch(name))}
        return replace(super().from_properties(properties), jaas=texts)

    def protocol_of(self, listener: str) -> SecurityProtocol:
        return self.protocols.get(listener, SecurityProtocol.PLAINTEXT)

    def jaas_of(self, listener: str) -> str | None:
        """Return the text of the listener's login module."""
        return self.jaas.get(listener.lower())

    def check_listeners(self, listeners: frozenset[str]) -> None:
        """Raise ConfigError for a login module without a listener, or a listener that needs one and has none."""
        for name in self.jaas:
            if name not in {listener.lower() for listener in listeners}:
                raise ConfigError(f"{jaas_key(name)} names no listener of this node.")
        for listener in sorted(listeners):
            if self.protocol_of(listener) is SecurityProtocol.SASL_PLAINTEXT and self.jaas_of(listener) is None:
                raise ConfigError(
                    f"the listener {listener} is SASL_PLAINTEXT, so the key {jaas_key(listener)} is missing."
                )
