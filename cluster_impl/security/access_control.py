"""Decisions about requests, by access control entries that change at run time.

As Kafka decides it: a super user may do everything; else an entry that denies wins over one that allows; where no entry
covers a resource, the setting `allow.everyone.if.no.acl.found` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from fencepost.cluster_impl.security.acl import Operation, Permission, Resource, Rule
from fencepost.cluster_impl.security.entries import (
    CLUSTER_NAME,
    OPERATIONS,
    WILDCARD,
    AccessControlEntry,
    AclOperation,
    PatternType,
    PermissionType,
    ResourceType,
)

Entries = Mapping[AccessControlEntry, None]
"""An ordered set. A change makes a new one, so that identity tells whether it is the same."""

_LARGEST_CACHE = 10_000
"""Decisions; clients choose the names that they ask about, so the cache has a limit."""


class AccessControl:
    """Implements `acl.Authorizer`, and decides about topics, groups and the cluster.

    `entries` returns the present ones; `fixed` are those of the node's own file. One event loop uses it.
    """

    def __init__(
        self,
        entries: Callable[[], Entries],
        super_users: Collection[str] = (),
        fixed: Iterable[AccessControlEntry] = (),
        *,
        allow_if_none: bool = False,
    ) -> None:
        self._entries = entries
        self._super_users = frozenset(super_users)
        self._fixed = tuple(fixed)
        self._allow_if_none = allow_if_none
        self._indexed: Entries | None = None
        self._literal: dict[tuple[int, str], list[AccessControlEntry]] = {}
        self._prefixed: dict[int, list[AccessControlEntry]] = {}
        self._decided: dict[tuple[str, str, AclOperation, ResourceType, str], bool] = {}

    def authorize(self, principal: str, operation: Operation, resource: Resource, host: str = "") -> bool:
        assert (operation, resource) == (Operation.CLUSTER_ACTION, Resource.CLUSTER)
        return self.allows(principal, host, AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME)

    def allows(self, principal: str, host: str, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        """Return True if the principal, on this host, may do this to the resource. Called for each request."""
        if principal in self._super_users:
            return True
        if self._entries() is not self._indexed:
            self._index()
        asked = (principal, host, operation, kind, name)
        decided = self._decided.get(asked)
        if decided is None:
            if len(self._decided) >= _LARGEST_CACHE:
                self._decided.clear()
            decided = self._decided[asked] = self._decide(*asked)
        return decided

    def allows_on_some(self, principal: str, host: str, operation: AclOperation, kind: ResourceType) -> bool:
        """Return True if there is a resource of this type to which the principal may do this."""
        if principal in self._super_users:
            return True
        if self._entries() is not self._indexed:
            self._index()
        of_type = [*self._prefixed.get(kind, ()), *(e for (t, _), es in self._literal.items() if t == kind for e in es)]
        ours = [entry for entry in of_type if entry.concerns(principal, host) and entry.names(operation)]
        denied = {
            (entry.resource_name, entry.pattern_type) for entry in ours if entry.permission == PermissionType.DENY
        }
        if (WILDCARD, PatternType.LITERAL) in denied:
            return False
        return any(
            entry.permission == PermissionType.ALLOW
            and (entry.resource_name, entry.pattern_type) not in denied
            and not any(
                name and entry.resource_name.startswith(name)
                for name, pattern in denied
                if pattern == PatternType.PREFIXED
            )
            for entry in ours
        ) or (self._allow_if_none and not of_type)

    def operations(self, principal: str, host: str, kind: ResourceType, name: str) -> int:
        """Return the allowed operations on a resource as the bits of their numbers."""
        return sum(
            1 << operation for operation in OPERATIONS[kind] if self.allows(principal, host, operation, kind, name)
        )

    def _index(self) -> None:
        entries = self._entries()
        self._literal, self._prefixed = {}, {}
        for entry in (*self._fixed, *entries):
            if entry.pattern_type == PatternType.PREFIXED:
                self._prefixed.setdefault(entry.resource_type, []).append(entry)
            else:
                self._literal.setdefault((entry.resource_type, entry.resource_name), []).append(entry)
        self._decided.clear()
        self._indexed = entries

    def _decide(self, principal: str, host: str, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        covering = [
            *self._literal.get((kind, name), ()),
            *(self._literal.get((kind, WILDCARD), ()) if name != WILDCARD else ()),
            *(entry for entry in self._prefixed.get(kind, ()) if entry.covers(kind, name)),
        ]
        if not covering:
            return self._allow_if_none
        permissions = {
            entry.permission for entry in covering if entry.concerns(principal, host) and entry.names(operation)
        }
        return permissions == {PermissionType.ALLOW}


def entry_of(rule: Rule) -> AccessControlEntry:
    """Return a line of a file of permissions as an entry."""
    return AccessControlEntry(
        ResourceType.CLUSTER,
        CLUSTER_NAME,
        PatternType.LITERAL,
        rule.principal,
        WILDCARD,
        AclOperation.CLUSTER_ACTION,
        PermissionType.ALLOW if rule.permission is Permission.ALLOW else PermissionType.DENY,
    )
