"""The security of the listeners of a cluster: their protocols and SASL mechanisms, under Kafka's names.

A plan names one of `SECURITIES`, or spells one out. The users are the same in all: `broker`, as which nodes log in to
each other, and `client`, as which the workload does, may do everything; `alice` may log in and has no rights.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Literal, Self

from pydantic import Discriminator, Tag, model_validator

from fencepost.faults.capabilities import Capability
from fencepost.faults.fault import Fault
from fencepost.harness.plan.base import PlanModel

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
SecurityName = Literal["plaintext", "sasl", "tls", "sasl-plain", "sasl-scram", "tls-plain", "tls-scram"]

BROKER_USER, CLIENT_USER, POWERLESS_USER = "broker", "client", "alice"
PASSWORDS = {BROKER_USER: "broker-password", CLIENT_USER: "client-password", POWERLESS_USER: "alice-password"}


class ListenerSecurity(PlanModel):
    """How connections to one listener are secured."""

    protocol: SecurityProtocol = "PLAINTEXT"
    mechanism: SaslMechanism | None = None
    """The mechanism of logins, with SASL_PLAINTEXT and SASL_SSL."""

    @property
    def has_tls(self) -> bool:
        return self.protocol.endswith("SSL")

    @model_validator(mode="after")
    def _has_a_mechanism_for_logins(self) -> Self:
        if self.protocol.startswith("SASL") != (self.mechanism is not None):
            raise ValueError(f"{self.protocol} {'needs a' if self.mechanism is None else 'has no'} `mechanism`")
        return self


class Security(PlanModel):
    """How the listeners of a cluster are secured."""

    client: ListenerSecurity = ListenerSecurity()
    internal: ListenerSecurity = ListenerSecurity()
    """Between brokers."""
    controller: ListenerSecurity = ListenerSecurity()
    """From brokers to controllers, and between controllers."""

    @property
    def listeners(self) -> Mapping[str, ListenerSecurity]:
        """The security by the name of the listener."""
        return {"CONTROLLER": self.controller, "INTERNAL": self.internal, "CLIENT": self.client}

    @property
    def secures(self) -> bool:
        """Return whether a listener has TLS or logins."""
        return self.has_tls or bool(self.mechanisms)

    @property
    def has_tls(self) -> bool:
        return any(each.has_tls for each in self.listeners.values())

    @property
    def mechanisms(self) -> tuple[SaslMechanism, ...]:
        """The mechanisms of all listeners, each once."""
        found = (each.mechanism for each in self.listeners.values())
        return tuple(dict.fromkeys(mechanism for mechanism in found if mechanism is not None))


PlannedSecurity = Annotated[
    Annotated[SecurityName, Tag("name")] | Annotated[Security, Tag("listeners")],
    Discriminator(lambda value: "name" if isinstance(value, str) else "listeners"),
]
"""A name, or the security of each listener."""

_PLAIN = ListenerSecurity(protocol="SASL_PLAINTEXT", mechanism="PLAIN")
_SCRAM = ListenerSecurity(protocol="SASL_PLAINTEXT", mechanism="SCRAM-SHA-256")
_TLS = ListenerSecurity(protocol="SSL")
_TLS_PLAIN = ListenerSecurity(protocol="SASL_SSL", mechanism="PLAIN")

SECURITIES: Mapping[SecurityName, Security] = {
    "plaintext": Security(),
    "sasl": Security(internal=_PLAIN, controller=_PLAIN),
    "tls": Security(client=_TLS, internal=_TLS, controller=_TLS),
    "sasl-plain": Security(client=_PLAIN, internal=_PLAIN, controller=_PLAIN),
    "sasl-scram": Security(client=_SCRAM, internal=_SCRAM, controller=_PLAIN),
    "tls-plain": Security(client=_TLS_PLAIN, internal=_TLS_PLAIN, controller=_TLS_PLAIN),
    "tls-scram": Security(
        client=ListenerSecurity(protocol="SASL_SSL", mechanism="SCRAM-SHA-512"),
        internal=ListenerSecurity(protocol="SASL_SSL", mechanism="SCRAM-SHA-256"),
        controller=_TLS_PLAIN,
    ),
}
"""Controllers have PLAIN beside SCRAM: those of Apache Kafka keep SCRAM users in the log that their logins are for."""


def spelled_out(planned: PlannedSecurity) -> Security:
    """Return the security of each listener for a name as well."""
    return planned if isinstance(planned, Security) else SECURITIES[planned]


def unsuitable_fault(fault: type[Fault], security: Security) -> str | None:
    """Return why a fault has no place with this security; None if it has."""
    if fault.counts_bytes and security.has_tls:
        return "under TLS the bytes of messages cannot be counted"
    return unsuitable(fault.capability, security)


def super_user(settings: Collection[str], security: Security) -> str | None:
    """Return why entries of nodes with these settings do not bind clients; None if they do, or if there are none."""
    if security.mechanisms and "authorizer.class.name" in settings:
        return "clients log in as a super user, to which no entry applies"
    return None


def unsuitable(capability: Capability, security: Security) -> str | None:
    """Return why faults of a capability have no place with this security; None if they have."""
    match capability:
        case Capability.MESSAGES if security.has_tls:
            return "there are no messages to see under TLS"
        case Capability.CERTIFICATES if not security.client.has_tls:
            return "clients see no certificates without TLS"
        case Capability.USERS if security.client.mechanism is None:
            return "clients do not log in"
    return None
