"""Access control entries, and the filters that find them, with Kafka's numbers (KIP-631, AccessControlRecord)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

CLUSTER_NAME = "kafka-cluster"
"""The one resource of type CLUSTER."""
WILDCARD = "*"
"""As a literal name: every resource of the type; as a host: every host."""
ANY_USER = "User:*"


class ResourceType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5


class PatternType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


class PermissionType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


_DESCRIBES = frozenset({AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER})

OPERATIONS: dict[ResourceType, tuple[AclOperation, ...]] = {
    ResourceType.TOPIC: (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.CREATE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE),
    ResourceType.CLUSTER: (
        AclOperation.CREATE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.CLUSTER_ACTION,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
    ),
}
"""The operations that each type of resource has, as responses show them."""


@dataclass(frozen=True, slots=True)
class AccessControlEntry:
    """One entry: a pattern of resources, and an operation on them that a principal may do, or may not."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int

    def covers(self, resource_type: ResourceType, name: str) -> bool:
        """Return True if the pattern contains this resource."""
        if self.resource_type != resource_type:
            return False
        if self.pattern_type == PatternType.PREFIXED:
            return name.startswith(self.resource_name)
        return self.resource_name in (name, WILDCARD)

    def concerns(self, principal: str, host: str) -> bool:
        return self.principal in (principal, ANY_USER) and self.host in (host, WILDCARD)

    def names(self, operation: AclOperation) -> bool:
        """Return True if the entry is about the operation. READ, for example, allows DESCRIBE."""
        if self.operation in (operation, AclOperation.ALL):
            return True
        if self.permission != PermissionType.ALLOW:
            return False
        if operation is AclOperation.DESCRIBE:
            return self.operation in _DESCRIBES
        return operation is AclOperation.DESCRIBE_CONFIGS and self.operation == AclOperation.ALTER_CONFIGS

    def problem(self) -> str | None:
        """Return a message if this cannot be an entry, else None."""
        if self.resource_type not in (*OPERATIONS, ResourceType.TRANSACTIONAL_ID):
            return f"{self.resource_type} is no type of resource: topic is 2, group 3, cluster 4."
        if self.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
            return "The pattern of an entry is literal (3) or prefixed (4)."
        if not self.resource_name:
            return "The resource has no name."
        if self.resource_type == ResourceType.CLUSTER and self.resource_name != CLUSTER_NAME:
            return f"The cluster is the resource {CLUSTER_NAME}, not {self.resource_name}."
        kind, colon, name = self.principal.partition(":")
        if not (kind and colon and name):
            return f"{self.principal!r} is not a principal, such as User:alice."
        if not self.host:
            return "The host is empty; `*` means every host."
        if not AclOperation.ALL <= self.operation <= AclOperation.IDEMPOTENT_WRITE:
            return f"{self.operation} is no operation of an entry."
        if self.permission not in (PermissionType.ALLOW, PermissionType.DENY):
            return "The permission of an entry is deny (2) or allow (3)."
        return None


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Finds entries; None, or ANY, matches all."""

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission: int

    def matches(self, entry: AccessControlEntry) -> bool:
        return (
            self.resource_type in (entry.resource_type, ResourceType.ANY)
            and self._matches_pattern(entry)
            and self.principal in (entry.principal, None)
            and self.host in (entry.host, None)
            and self.operation in (entry.operation, AclOperation.ANY)
            and self.permission in (entry.permission, PermissionType.ANY)
        )

    def _matches_pattern(self, entry: AccessControlEntry) -> bool:
        """MATCH finds every entry whose pattern contains the named resource; the other types compare names."""
        if self.pattern_type == PatternType.MATCH:
            return self.resource_name is None or entry.covers(ResourceType(entry.resource_type), self.resource_name)
        return self.pattern_type in (entry.pattern_type, PatternType.ANY) and self.resource_name in (
            entry.resource_name,
            None,
        )

    def problem(self) -> str | None:
        """Return a message if this cannot be a filter, else None."""
        kinds = (self.resource_type, self.pattern_type, self.operation, self.permission)
        limits = (
            ResourceType.TRANSACTIONAL_ID,
            PatternType.PREFIXED,
            AclOperation.IDEMPOTENT_WRITE,
            PermissionType.ALLOW,
        )
        if any(not 1 <= kind <= limit for kind, limit in zip(kinds, limits, strict=True)):
            return "The filter has a type that is unknown."
        return None
