"""A coordinator that takes commits of any member and generation (GRP-02; compare KAFKA-9752)."""

from __future__ import annotations

from fencepost.cluster_impl.api.groups.group import Group
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-9752",
    designs=ALL,
    rules=("GRP-02",),
    scenarios=("group-coordinator-paused",),
    unit="tests/cluster_impl/api/test_group.py",
)


def apply() -> None:
    Group.may_commit = _may_commit  # type: ignore[method-assign]


def _may_commit(self: Group, member_id: str, instance: str | None, generation: int, now: float) -> Error:
    """Check nothing."""
    if member_id in self.members:
        self.members[member_id].heard_at = now
    return Error.NONE
