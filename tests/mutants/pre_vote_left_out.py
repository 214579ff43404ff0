"""A controller that stands for election without a pre-vote (KIP-996; against KIP-996, Pre-Vote)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.roles import RoleMachine
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KIP-996",
    designs=(QUORUM,),
    rules=("CTRL-01",),
    scenarios=("isolated-controller", "minority-side"),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    def at_once(self: RoleMachine, now: float) -> None:
        self._become_candidate(now)

    RoleMachine._become_prospective = at_once  # type: ignore[method-assign]
