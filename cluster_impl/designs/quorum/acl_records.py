"""The records of access control entries (decision 0069)."""

from __future__ import annotations

from typing import TypedDict

from fencepost.cluster_impl.security.entries import AccessControlEntry
from fencepost.cluster_impl.wire import messages as m


class EntryFields(TypedDict):
    """An entry under the names that its fields have in records and in responses."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


def fields_of(entry: AccessControlEntry) -> EntryFields:
    return EntryFields(
        resource_type=entry.resource_type,
        resource_name=entry.resource_name,
        pattern_type=entry.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )


def created(entry: AccessControlEntry) -> m.AccessControlRecord:
    """Return the record that adds an entry."""
    return m.AccessControlRecord(**fields_of(entry))


def deleted(entry: AccessControlEntry) -> m.DeleteAccessControlRecord:
    """Return the record that removes an entry."""
    return m.DeleteAccessControlRecord(**fields_of(entry))
