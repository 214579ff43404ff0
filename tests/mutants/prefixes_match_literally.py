"""A broker that takes the name of a prefixed pattern for that of one resource (against D631-43)."""

from __future__ import annotations

from fencepost.cluster_impl.security.entries import WILDCARD, AccessControlEntry, ResourceType


def apply() -> None:
    def literally(self: AccessControlEntry, resource_type: ResourceType, name: str) -> bool:
        return self.resource_type == resource_type and self.resource_name in (name, WILDCARD)

    AccessControlEntry.covers = literally  # type: ignore[method-assign]
