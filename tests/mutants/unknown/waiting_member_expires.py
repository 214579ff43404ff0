"""A coordinator that lets a member expire while its own answer to JoinGroup is what the member waits for (KIP-62).

A member sends no heartbeat then; with a rebalance longer than its session it is left out of each generation.
"""

from __future__ import annotations

from fencepost.cluster_impl.api.groups.group import Member
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("GRP-03",),
    scenarios=(),
    unit="tests/mutants/unknown/test_timing.py::test_a_member_that_waits_for_the_others_does_not_expire",
    kind=Kind.TIMING,
)


def apply() -> None:
    def expires_at(self: Member) -> float:
        return self.heard_at + self.join.session_timeout

    Member.expires_at = property(expires_at)  # type: ignore[method-assign, assignment]
