"""A broker that lets an entry that allows win over one that denies (against D631-43)."""

from __future__ import annotations

from fencepost.cluster_impl.security.access_control import AccessControl
from fencepost.cluster_impl.security.entries import AclOperation, PermissionType, ResourceType
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-43",),
    scenarios=("metadata-format-raised",),
    unit="tests/cluster_impl/security/test_access_control.py::test_deny_wins_over_allow_whatever_pattern_each_has",
)


def apply() -> None:
    decide = AccessControl._decide

    def lenient(
        self: AccessControl, principal: str, host: str, operation: AclOperation, kind: ResourceType, name: str
    ) -> bool:
        if decide(self, principal, host, operation, kind, name):
            return True
        literal = [*self._literal.get((kind, name), ()), *self._literal.get((kind, "*"), ())]
        prefixed = [entry for entry in self._prefixed.get(kind, ()) if entry.covers(kind, name)]
        return any(
            entry.permission == PermissionType.ALLOW and entry.concerns(principal, host) and entry.names(operation)
            for entry in (*literal, *prefixed)
        )

    AccessControl._decide = lenient  # type: ignore[method-assign]
