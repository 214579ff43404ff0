"""The permissions of each principal: a small file of rules, and super users with every permission.

One rule a line, `#` starts a comment; Deny wins over Allow, and an operation that no line allows is refused:

    User:broker   Cluster ClusterAction Allow
    User:*        Cluster ClusterAction Deny

Only operations that the cluster checks may be named, so that every line has an effect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol, Self, TypeVar

ALL_USERS = "User:*"

Choice = TypeVar("Choice", bound=Enum)


class Resource(Enum):
    CLUSTER = "Cluster"


class Operation(Enum):
    CLUSTER_ACTION = "ClusterAction"
    """The requests of brokers and controllers to one another."""


class Permission(Enum):
    ALLOW = "Allow"
    DENY = "Deny"


@dataclass(frozen=True, slots=True)
class Rule:
    principal: str
    resource: Resource
    operation: Operation
    permission: Permission

    @classmethod
    def parse(cls, line: str) -> Self:
        """Parse one line. Raises ValueError with a message."""
        words = line.split()
        if len(words) != 4:
            raise ValueError(f"{line!r} is not `User:NAME Cluster ClusterAction Allow` or `... Deny`")
        principal, *rest = words
        if not principal.startswith("User:") or principal == "User:":
            raise ValueError(f"{principal!r} is not User:NAME")
        resource, operation, permission = rest
        return cls(
            principal, _one_of(Resource, resource), _one_of(Operation, operation), _one_of(Permission, permission)
        )

    def concerns(self, principal: str, operation: Operation, resource: Resource) -> bool:
        return self.principal in (principal, ALL_USERS) and self.operation is operation and self.resource is resource


class Authorizer(Protocol):
    def authorize(self, principal: str, operation: Operation, resource: Resource, host: str = "") -> bool:
        """Return True if the principal, on this host, has the permission. Called for each request: it must be quick."""
        ...


class NoAuthorizer:
    """Without a file of permissions every principal may do everything."""

    def authorize(self, principal: str, operation: Operation, resource: Resource, host: str = "") -> bool:
        return True


class AccessList:
    def __init__(self, rules: Iterable[Rule], super_users: Iterable[str] = ()) -> None:
        self.rules = tuple(rules)
        self._super_users = frozenset(super_users)
        self._decided: dict[tuple[str, Operation, Resource], bool] = {}

    @classmethod
    def load(cls, path: Path, super_users: Iterable[str] = ()) -> Self:
        """Load a file of permissions. Raises OSError, or ValueError with file and line."""
        rules = []
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            if text := line.partition("#")[0].strip():
                try:
                    rules.append(Rule.parse(text))
                except ValueError as error:
                    raise ValueError(f"{path}, line {number}: {error}") from None
        return cls(rules, super_users)

    def authorize(self, principal: str, operation: Operation, resource: Resource, host: str = "") -> bool:
        asked = (principal, operation, resource)
        decided = self._decided.get(asked)
        if decided is None:
            # The principals are users of a listener, so this cache stays as small as their list.
            decided = self._decided[asked] = self._decide(*asked)
        return decided

    def _decide(self, principal: str, operation: Operation, resource: Resource) -> bool:
        if principal in self._super_users:
            return True
        permissions = {rule.permission for rule in self.rules if rule.concerns(principal, operation, resource)}
        return permissions == {Permission.ALLOW}


def _one_of(kind: type[Choice], text: str) -> Choice:
    try:
        return kind(text)
    except ValueError:
        names = ", ".join(choice.value for choice in kind)
        raise ValueError(f"{text!r} is not known here; this may be {names}") from None
