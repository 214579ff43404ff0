"""The types of configuration values: text in, a typed value out, or a ValueError that says what the value must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeVar

from fencepost.cluster_impl.config.table import ValueType

Choice = TypeVar("Choice", bound=Enum)

MAX_INT = 2**31 - 1
MAX_LONG = 2**63 - 1
MAX_REPLICATION_FACTOR = 2**15 - 1


class SecurityProtocol(Enum):
    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def number(self) -> int:
        """Return Kafka's number of the protocol, as records and requests carry it."""
        return list(SecurityProtocol).index(self)

    @property
    def has_tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def has_logins(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class ReplicaSelector(Enum):
    """How a leader chooses the replica from which a client reads, by the name of Kafka's class (KIP-392)."""

    LEADER = "org.apache.kafka.common.replica.LeaderSelector"
    RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


@dataclass(frozen=True, slots=True)
class HostPort:
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Listener:
    """`NAME://host:port`: a socket to listen on, or, advertised, the address that others should use."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Voter:
    """One controller of the quorum, `id@host:port`, or an address of one, `NAME://host:port`.

    An address alone has an id of FIRST_ADDRESS or below, by which a node tells its addresses apart.
    """

    id: int
    host: str
    port: int
    listener: str | None = None

    @property
    def is_known(self) -> bool:
        """Return whether the controller's own id is known."""
        return self.id >= 0


FIRST_ADDRESS = -2
"""The id of the first address without one; -1 means no node."""


def whole_number(minimum: int = 0, maximum: int = MAX_INT, form: str = "whole number") -> ValueType[int]:
    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError("must be a whole number") from None
        if not minimum <= number <= maximum:
            raise ValueError(f"must lie between {minimum} and {maximum}")
        return number

    return ValueType(form, parse)


def size(minimum: int) -> ValueType[int]:
    return whole_number(minimum, form="bytes")


def milliseconds(minimum: int = 1) -> ValueType[float]:
    """Milliseconds in the file, seconds in the table."""
    number = whole_number(minimum)
    return ValueType("milliseconds", lambda text: number.parse(text) / 1000)


def _parse_seconds(text: str) -> float:
    return float(whole_number(1).parse(text))


def _parse_boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("must be true or false")
    return text == "true"


def _parse_name(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def one_of(kind: type[Choice]) -> ValueType[Choice]:
    """Return an enum whose values are texts."""
    choices = ", ".join(choice.value for choice in kind)

    def parse(text: str) -> Choice:
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"must be one of {choices}") from None

    return ValueType(f"one of {choices}", parse)


def items(text: str) -> list[str]:
    """Return what stands between the commas, without empty items."""
    return [item.strip() for item in text.split(",") if item.strip()]


def _host_and_port(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"holds {text!r}, which is not host:port")
    return host.strip("[]"), int(port)


def _parse_listeners(text: str) -> tuple[Listener, ...]:
    listeners: dict[str, Listener] = {}
    for item in items(text):
        name, scheme, address = item.partition("://")
        if not (name and scheme):
            raise ValueError(f"holds {item!r}, which is not NAME://host:port")
        if name in listeners:
            raise ValueError(f"names the listener {name} twice")
        listeners[name] = Listener(name, *_host_and_port(address))
    if not listeners:
        raise ValueError("must name at least one listener as NAME://host:port")
    return tuple(listeners.values())


def _parse_voters(text: str) -> tuple[Voter, ...]:
    voters: dict[int, Voter] = {}
    next_address = FIRST_ADDRESS
    for item in items(text):
        name, scheme, address = item.partition("://")
        number, at, numbered = item.partition("@")
        if scheme and name:
            voter = Voter(next_address, *_host_and_port(address), name)
            next_address -= 1
        elif at and number.isdigit():
            voter = Voter(int(number), *_host_and_port(numbered))
        else:
            raise ValueError(f"holds {item!r}, which is neither id@host:port nor NAME://host:port")
        if voter.id in voters:
            raise ValueError(f"names controller {voter.id} twice")
        voters[voter.id] = voter
    if not voters:
        raise ValueError("must name at least one controller as id@host:port or NAME://host:port")
    return tuple(voters.values())


def _parse_hosts_and_ports(text: str) -> tuple[HostPort, ...]:
    servers = tuple(HostPort(*_host_and_port(item)) for item in items(text))
    if not servers:
        raise ValueError("must name at least one server as host:port")
    return servers


def _parse_host_and_port(text: str) -> HostPort:
    return HostPort(*_host_and_port(text))


def _parse_security_protocols(text: str) -> Mapping[str, SecurityProtocol]:
    protocols = {}
    for item in items(text):
        name, colon, protocol = item.partition(":")
        if not (name and colon and protocol in SecurityProtocol.__members__):
            raise ValueError(
                f"holds {item!r}, which is not NAME:PROTOCOL; it is {', '.join(SecurityProtocol.__members__)}"
            )
        protocols[name] = SecurityProtocol[protocol]
    return protocols


AUTHORIZER_CLASS = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


def _parse_authorizer(text: str) -> str:
    if text != AUTHORIZER_CLASS:
        raise ValueError(f"must be {AUTHORIZER_CLASS}, the one authorizer that there is")
    return text


def _parse_pem(text: str) -> str:
    if text != "PEM":
        raise ValueError("must be PEM, the one form that is supported")
    return text


def _parse_endpoint_identification(text: str) -> bool:
    if text not in ("https", ""):
        raise ValueError("must be https, or empty")
    return text == "https"


MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def _parse_sasl_mechanism(text: str) -> str:
    if text not in MECHANISMS:
        raise ValueError(f"must be one of {', '.join(MECHANISMS)}")
    return text


def _parse_sasl_mechanisms(text: str) -> tuple[str, ...]:
    return tuple(_parse_sasl_mechanism(item) for item in items(text))


def _parse_principals(text: str) -> frozenset[str]:
    """Kafka separates principals by semicolons, since a name may hold a comma."""
    principals = frozenset(item.strip() for item in text.split(";") if item.strip())
    for item in principals:
        if not item.startswith("User:"):
            raise ValueError(f"holds {item!r}, which is not User:NAME")
    return principals


def _parse_directories(text: str) -> tuple[Path, ...]:
    directories = tuple(Path(item) for item in items(text))
    if not directories:
        raise ValueError("must name at least one directory")
    if len(set(directories)) < len(directories):
        raise ValueError("names a directory twice")
    return directories


NODE_ID = whole_number()
PORTION = whole_number(0, 100, form="percent")
COUNT = whole_number(1)
REPLICATION_FACTOR = whole_number(1, MAX_REPLICATION_FACTOR)
LONG_MILLISECONDS = whole_number(1, MAX_LONG, form="milliseconds")
"""Milliseconds in the file and in the table, as they are compared with timestamps of records."""
RETENTION_MILLISECONDS = whole_number(-1, MAX_LONG, form="milliseconds")
RETENTION_BYTES = whole_number(-1, MAX_LONG, form="bytes")
SECONDS = ValueType("seconds", _parse_seconds)
BOOLEAN = ValueType("true or false", _parse_boolean)
NAME = ValueType("name", _parse_name)
NAMES = ValueType("names separated by commas", lambda text: tuple(items(text)))
FILE = ValueType("file", Path)
DIRECTORIES = ValueType("directories separated by commas", _parse_directories)
LISTENERS = ValueType("NAME://host:port, separated by commas", _parse_listeners)
VOTERS = ValueType("id@host:port or NAME://host:port, separated by commas", _parse_voters)
ADDRESS = ValueType("host:port", _parse_host_and_port)
SERVERS = ValueType("host:port, separated by commas", _parse_hosts_and_ports)
SECURITY_PROTOCOLS = ValueType("NAME:PROTOCOL, separated by commas", _parse_security_protocols)
AUTHORIZER = ValueType("class", _parse_authorizer)
PEM = ValueType("PEM", _parse_pem)
ENDPOINT_IDENTIFICATION = ValueType("https, or empty", _parse_endpoint_identification)
SASL_MECHANISM = ValueType("mechanism", _parse_sasl_mechanism)
SASL_MECHANISMS = ValueType("mechanisms separated by commas", _parse_sasl_mechanisms)
PRINCIPALS = ValueType("User:NAME, separated by semicolons", _parse_principals)
