"""A broker that takes the name of a prefixed pattern for that of one resource (against D631-43)."""

from __future__ import annotations

from fencepost.cluster_impl.security.entries import WILDCARD, AccessControlEntry, ResourceType
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-43",),
    scenarios=("metadata-format-raised",),
    unit=(
        "tests/cluster_impl/security/test_access_control.py::"
        "test_a_prefix_covers_the_names_that_begin_with_it_and_a_literal_star_all"
    ),
)


def apply() -> None:
    def literally(self: AccessControlEntry, resource_type: ResourceType, name: str) -> bool:
        return self.resource_type == resource_type and self.resource_name in (name, WILDCARD)

    AccessControlEntry.covers = literally  # type: ignore[method-assign]
