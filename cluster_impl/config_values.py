"""How the values of configuration keys are read: text in, a typed value out, or a ValueError.

The error's text continues a sentence that begins with the key, as in `broker.id=x must be a whole number`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeVar

Choice = TypeVar("Choice", bound=Enum)


class Role(Enum):
    CONTROLLER = "controller"
    BROKER = "broker"
    LEGACY = "broker without process.roles"
    """A broker that runs with ZooKeeper; no file names this role, the absence of process.roles does."""


class SecurityProtocol(Enum):
    PLAINTEXT = "PLAINTEXT"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"


class ReplicationDesign(Enum):
    """How brokers that run with ZooKeeper decide on leaders and replicas."""

    CONTROLLER = "controller"
    """One broker, elected controller, decides for all."""
    LEADER_DRIVEN = "leader-driven"
    """Each leader decides for its partition; there is no controller."""


@dataclass(frozen=True, slots=True)
class Listener:
    """`NAME://host:port`: a socket to listen on, or, advertised, the address that others should use."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class HostPort:
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Voter:
    """One controller of the quorum, `id@host:port`."""

    id: int
    host: str
    port: int


def text(value: str) -> str:
    if not value:
        raise ValueError("must not be empty")
    return value


def integer(minimum: int, maximum: int = 2**31 - 1) -> Callable[[str], int]:
    def read(value: str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError("must be a whole number") from None
        if not minimum <= number <= maximum:
            raise ValueError(f"must lie between {minimum} and {maximum}")
        return number

    return read


def milliseconds(value: str) -> float:
    return integer(1)(value) / 1000


def milliseconds_or_zero(value: str) -> float:
    return integer(0)(value) / 1000


def seconds(value: str) -> float:
    return float(integer(1)(value))


def boolean(value: str) -> bool:
    if value not in ("true", "false"):
        raise ValueError("must be true or false")
    return value == "true"


def names(value: str) -> tuple[str, ...]:
    return tuple(_items(value))


def _items(value: str) -> list[str]:
    return [item.strip() for item in value.split(",") if item.strip()]


def role(value: str) -> Role:
    names = _items(value)
    if set(names) == {"broker", "controller"}:
        raise ValueError("must name one role: a process that is broker and controller at once is not supported yet")
    if value not in (Role.CONTROLLER.value, Role.BROKER.value):
        raise ValueError("must be controller or broker")
    return Role(value)


def one_of(kind: type[Choice]) -> Callable[[str], Choice]:
    """Reads the value of an enum whose values are texts."""

    def read(value: str) -> Choice:
        try:
            return kind(value)
        except ValueError:
            raise ValueError(f"must be one of {', '.join(choice.value for choice in kind)}") from None

    return read


def _host_and_port(value: str) -> tuple[str, int]:
    host, colon, port = value.rpartition(":")
    if not (colon and host and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"holds {value!r}, which is not host:port")
    return host.strip("[]"), int(port)


def listeners(value: str) -> tuple[Listener, ...]:
    found: dict[str, Listener] = {}
    for item in _items(value):
        name, scheme, address = item.partition("://")
        if not (name and scheme):
            raise ValueError(f"holds {item!r}, which is not NAME://host:port")
        if name in found:
            raise ValueError(f"names the listener {name} twice")
        found[name] = Listener(name, *_host_and_port(address))
    if not found:
        raise ValueError("must name at least one listener as NAME://host:port")
    return tuple(found.values())


def voters(value: str) -> tuple[Voter, ...]:
    found: dict[int, Voter] = {}
    for item in _items(value):
        number, at, address = item.partition("@")
        if not (at and number.isdigit()):
            raise ValueError(f"holds {item!r}, which is not id@host:port")
        voter = Voter(int(number), *_host_and_port(address))
        if voter.id in found:
            raise ValueError(f"names controller {voter.id} twice")
        found[voter.id] = voter
    if not found:
        raise ValueError("must name at least one controller as id@host:port")
    return tuple(found.values())


def hosts_and_ports(value: str) -> tuple[HostPort, ...]:
    found = tuple(HostPort(*_host_and_port(item)) for item in _items(value))
    if not found:
        raise ValueError("must name at least one server as host:port")
    return found


def security_protocols(value: str) -> dict[str, SecurityProtocol]:
    found = {}
    for item in _items(value):
        name, colon, protocol = item.partition(":")
        if not (name and colon and protocol in SecurityProtocol.__members__):
            raise ValueError(f"holds {item!r}: only NAME:PLAINTEXT and NAME:SASL_PLAINTEXT are supported")
        found[name] = SecurityProtocol[protocol]
    return found


def sasl_mechanism(value: str) -> str:
    if value != "PLAIN":
        raise ValueError("must be PLAIN, the one mechanism that is supported")
    return value


def sasl_mechanisms(value: str) -> tuple[str, ...]:
    return tuple(sasl_mechanism(item) for item in _items(value))


def principals(value: str) -> frozenset[str]:
    """Kafka separates them by semicolons, since a name may hold a comma."""
    found = frozenset(item.strip() for item in value.split(";") if item.strip())
    for item in found:
        if not item.startswith("User:"):
            raise ValueError(f"holds {item!r}, which is not User:NAME")
    return found


def directories(value: str) -> tuple[Path, ...]:
    found = tuple(Path(item) for item in _items(value))
    if not found:
        raise ValueError("must name at least one directory")
    if len(set(found)) < len(found):
        raise ValueError("names a directory twice")
    return found
