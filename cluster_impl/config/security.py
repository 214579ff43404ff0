"""The keys of authentication (SASL/PLAIN on listeners) and authorization (a file of permissions)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Self

from fencepost.cluster_impl.config import values
from fencepost.cluster_impl.config.table import ConfigError, Table, key
from fencepost.cluster_impl.config.values import SecurityProtocol

_JAAS = re.compile(r"listener\.name\.([^.]+)\.(plain|scram-sha-256|scram-sha-512)\.sasl\.jaas\.config")
JAAS_KEY_FORM = "listener.name.<name>.<mechanism>.sasl.jaas.config"
JAAS_HELP = (
    f"  {JAAS_KEY_FORM} (login module, one for each mechanism of a listener with SASL)\n"
    "      The login of this node, and the users that may log in."
)


_KEYSTORE = re.compile(r"listener\.name\.([^.]+)\.ssl\.keystore\.location")


def is_run_time_key(name: str) -> bool:
    """Return whether a setting secures one listener, and can be changed while a broker runs (KIP-226)."""
    return any(form.fullmatch(name) for form in (_JAAS, _KEYSTORE))


def is_jaas_key(name: str) -> bool:
    return _JAAS.fullmatch(name) is not None


def jaas_key(listener: str, mechanism: str) -> str:
    return JAAS_KEY_FORM.replace("<name>", listener.lower()).replace("<mechanism>", mechanism.lower())


class ClientAuth(Enum):
    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


@dataclass(frozen=True, kw_only=True)
class SecurityConfig(Table):
    protocols: Mapping[str, SecurityProtocol] = key(
        "listener.security.protocol.map",
        values.SECURITY_PROTOCOLS,
        "Security protocol by listener name: NAME:PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.",
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
    controller_mechanism: str | None = key(
        "sasl.mechanism.controller.protocol",
        values.SASL_MECHANISM,
        "The mechanism by which nodes log in to controllers; without it sasl.mechanism.inter.broker.protocol.",
        optional=True,
    )
    keystore: Path | None = key(
        "ssl.keystore.location",
        values.FILE,
        "A PEM file with the private key and the certificate chain of this node, for SSL and SASL_SSL.",
        optional=True,
    )
    keystore_type: str = key("ssl.keystore.type", values.PEM, "The form of ssl.keystore.location.", default="PEM")
    key_password: str | None = key(
        "ssl.key.password", values.NAME, "The password of an encrypted private key.", optional=True
    )
    truststore: Path | None = key(
        "ssl.truststore.location",
        values.FILE,
        "A PEM file with the certificates of the authorities that sign those of other nodes and of clients.",
        optional=True,
    )
    truststore_type: str = key("ssl.truststore.type", values.PEM, "The form of ssl.truststore.location.", default="PEM")
    client_auth: ClientAuth = key(
        "ssl.client.auth",
        values.one_of(ClientAuth),
        "Whether clients of TLS listeners need a certificate; on an SSL listener its subject is the user.",
        default="none",
    )
    verifies_hosts: bool = key(
        "ssl.endpoint.identification.algorithm",
        values.ENDPOINT_IDENTIFICATION,
        "https: the name of another node must be in its certificate; empty: it need not.",
        default="https",
    )
    super_users: frozenset[str] = key("super.users", values.PRINCIPALS, "Users with every permission.", default="")
    acls_file: Path | None = key(
        "authorizer.acls",
        values.FILE,
        "Permissions, one a line, as `User:alice Cluster ClusterAction Allow`. Without it every user has every one.",
        optional=True,
    )
    authorizer: str | None = key(
        "authorizer.class.name",
        values.AUTHORIZER,
        "With this authorizer a node of the design quorum enforces the access control entries of CreateAcls.",
        optional=True,
    )
    allow_if_no_acl: bool = key(
        "allow.everyone.if.no.acl.found",
        values.BOOLEAN,
        "Whether all users may use a resource that no access control entry covers.",
        default="false",
    )
    jaas: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The texts of login modules, by the listener's name in lower case and the mechanism."""
    keystores: Mapping[str, Path] = field(default_factory=dict)
    """The files that were given to single listeners at run time, by the listener's name in lower case."""

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        return replace(super().from_properties(properties), jaas=_login_modules(properties))

    def at_run_time(self, settings: Mapping[str, str]) -> Self:
        """Return the security with what these run-time settings of the broker change."""
        files = {m[1].lower(): Path(value) for name, value in settings.items() if (m := _KEYSTORE.fullmatch(name))}
        return replace(self, jaas={**self.jaas, **_login_modules(settings)}, keystores=files)

    def check(self) -> None:
        if self.allow_if_no_acl and self.authorizer is None:
            raise ConfigError("allow.everyone.if.no.acl.found has no effect without authorizer.class.name.")

    def protocol_of(self, listener: str) -> SecurityProtocol:
        return self.protocols.get(listener, SecurityProtocol.PLAINTEXT)

    def keystore_of(self, listener: str) -> Path | None:
        return self.keystores.get(listener.lower(), self.keystore)

    def jaas_of(self, listener: str, mechanism: str) -> str | None:
        """Return the text of the listener's login module for a mechanism."""
        return self.jaas.get((listener.lower(), mechanism))

    def check_listeners(self, listeners: frozenset[str]) -> None:
        """Raise ConfigError for a login module without a listener, or a listener that needs one and has none."""
        for name, mechanism in self.jaas:
            if name not in {listener.lower() for listener in listeners}:
                raise ConfigError(f"{jaas_key(name, mechanism)} names no listener of this node.")
            if mechanism not in self.mechanisms:
                raise ConfigError(f"{jaas_key(name, mechanism)}: sasl.enabled.mechanisms does not name {mechanism}.")
        for listener in sorted(listeners):
            protocol = self.protocol_of(listener)
            if protocol.has_logins and not any(self.jaas_of(listener, mechanism) for mechanism in self.mechanisms):
                keys = " or ".join(jaas_key(listener, mechanism) for mechanism in self.mechanisms)
                raise ConfigError(f"the listener {listener} is {protocol.value}, so the key {keys} is missing.")


def _login_modules(properties: Mapping[str, str]) -> Mapping[tuple[str, str], str]:
    return {
        (match[1].lower(), match[2].upper()): text
        for name, text in properties.items()
        if (match := _JAAS.fullmatch(name))
    }
