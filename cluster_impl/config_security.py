"""The keys that say who may connect and what each may do: SASL/PLAIN on listeners, and a small list of permissions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cluster_impl import config_values as read
from cluster_impl.config_keys import ConfigError, Key
from cluster_impl.config_values import SecurityProtocol

PLAIN = "PLAIN"

_JAAS = re.compile(r"listener\.name\.([^.]+)\.plain\.sasl\.jaas\.config")
JAAS_KEY = "listener.name.<name>.plain.sasl.jaas.config"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityConfig:
    """`jaas` holds the text of each listener's login module, by the listener's name in lower case."""

    protocols: Annotated[
        Mapping[str, SecurityProtocol],
        Key(
            "listener.security.protocol.map",
            read.security_protocols,
            "Security protocol by listener name: NAME:PLAINTEXT or NAME:SASL_PLAINTEXT.",
            default="",
        ),
    ]
    mechanisms: Annotated[
        tuple[str, ...],
        Key("sasl.enabled.mechanisms", read.sasl_mechanisms, "SASL mechanisms of the listeners: PLAIN.", default=PLAIN),
    ]
    inter_broker_mechanism: Annotated[
        str,
        Key(
            "sasl.mechanism.inter.broker.protocol",
            read.sasl_mechanism,
            "The mechanism by which nodes log in to one another: PLAIN.",
            default=PLAIN,
        ),
    ]
    super_users: Annotated[
        frozenset[str],
        Key(
            "super.users",
            read.principals,
            "Who may do everything, as User:NAME separated by semicolons.",
            default="",
        ),
    ]
    acls_file: Annotated[
        Path | None,
        Key(
            "authorizer.acls",
            Path,
            "A file of permissions, as `User:alice Cluster ClusterAction Allow`; without it everybody may do all.",
        ),
    ]
    jaas: Mapping[str, str] = field(default_factory=dict)

    def protocol_of(self, listener: str) -> SecurityProtocol:
        return self.protocols.get(listener, SecurityProtocol.PLAINTEXT)

    def jaas_of(self, listener: str) -> str | None:
        """The login module's text of a listener, as the configuration has it."""
        return self.jaas.get(listener.lower())

    def check(self, listeners: frozenset[str]) -> None:
        """The rules that concern more than one key. Raises ConfigError."""
        for name in self.jaas:
            if name not in {listener.lower() for listener in listeners}:
                raise ConfigError(f"listener.name.{name}.plain.sasl.jaas.config names no listener of this node.")
        for listener in sorted(listeners):
            if self.protocol_of(listener) is SecurityProtocol.SASL_PLAINTEXT and self.jaas_of(listener) is None:
                raise ConfigError(
                    f"the listener {listener} is SASL_PLAINTEXT, so the key "
                    f"listener.name.{listener.lower()}.plain.sasl.jaas.config is missing."
                )


def jaas_texts(properties: Mapping[str, str]) -> dict[str, str]:
    """The values of all keys of the form `JAAS_KEY`, by listener name."""
    return {match[1].lower(): text for key, text in properties.items() if (match := _JAAS.fullmatch(key))}


def is_jaas_key(name: str) -> bool:
    return _JAAS.fullmatch(name) is not None
