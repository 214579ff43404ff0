"""A coordinator that waits a session timeout for members to join again (against KIP-62: the rebalance timeout).

A member that finishes its work within its rebalance timeout is thrown out all the same, and its partitions move.
"""

from __future__ import annotations

from dataclasses import replace

from fencepost.cluster_impl.api.groups.group import Group, Join, Replies, Token
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("GRP-03",),
    scenarios=(),
    unit="tests/mutants/unknown/test_timing.py::test_a_rebalance_waits_for_the_rebalance_timeout_of_its_members",
    kind=Kind.TIMING,
)


def apply() -> None:
    honest = Group.join

    def join(self: Group, request: Join, token: Token, now: float) -> Replies:
        return honest(self, replace(request, rebalance_timeout=request.session_timeout), token, now)

    Group.join = join  # type: ignore[method-assign]
