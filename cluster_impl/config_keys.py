"""One key of the property file: its name, how its value is read, whom it concerns, and what `--help` says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from cluster_impl.config_values import Role


class ConfigError(Exception):
    """A configuration that no node can run with. The message is one sentence."""


ALL = frozenset(Role)
CONTROLLER = frozenset({Role.CONTROLLER})
BROKER = frozenset({Role.BROKER})
QUORUM = CONTROLLER | BROKER
"""Nodes with process.roles."""
LEGACY = frozenset({Role.LEGACY})
"""Nodes without process.roles: brokers of a cluster that runs with ZooKeeper (KIP-631, legacy mode)."""


@dataclass(frozen=True, slots=True)
class Key:
    """`default` is text as a file would hold it; `absent` is the value of an optional key that has no default."""

    name: str
    read: Callable[[str], Any]
    about: str
    default: str | None = None
    required_of: frozenset[Role] = frozenset()
    absent: Any = None
    concerns: frozenset[Role] = ALL

    def value(self, given: str | None, role: Role) -> Any:
        """The value for a node of this role. Raises ConfigError."""
        if given is not None and role not in self.concerns:
            whom = "without" if self.concerns == LEGACY else "with"
            raise ConfigError(f"the key {self.name} is one of nodes {whom} process.roles, which this node is not.")
        text = given if given is not None else self.default
        if text is None:
            if role in self.required_of:
                raise ConfigError(f"the key {self.name} is missing: {self.about}")
            return self.absent
        try:
            return self.read(text.strip())
        except ValueError as error:
            raise ConfigError(f"{self.name}={text} {error}.") from None

    def described(self) -> str:
        roles = self.required_of - LEGACY or self.required_of
        needed_by = " and ".join(sorted(role.value for role in roles))
        note = f"default {self.default}" if self.default else f"required of a {needed_by}" if needed_by else "optional"
        return f"  {self.name} ({note})\n      {self.about}"


def keys_of(table: type) -> dict[str, Key]:
    """Attribute of a table to the key that it holds."""
    hints = get_type_hints(table, include_extras=True)
    return {
        attribute: key
        for attribute, hint in hints.items()
        for key in getattr(hint, "__metadata__", ())
        if isinstance(key, Key)
    }


def values_of(table: type, properties: Mapping[str, str], role: Role) -> dict[str, Any]:
    """Attribute to value, as these properties describe them. Raises ConfigError."""
    return {attribute: key.value(properties.get(key.name), role) for attribute, key in keys_of(table).items()}
