"""An active controller that stays so without a majority (KAFKA-15489; against LIVE-02)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.roles import RoleMachine
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-15489",
    designs=(QUORUM,),
    rules=("CTRL-05",),
    scenarios=("isolated-controller",),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    RoleMachine._resignation_due_at = _never  # type: ignore[method-assign]


def _never(self: RoleMachine) -> float:
    return float("inf")
