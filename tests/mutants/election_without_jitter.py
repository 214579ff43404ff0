"""Controllers that all wait equally long before they stand again (KAFKA-18345; against LIVE-02)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.roles import RoleMachine
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-18345",
    designs=(QUORUM,),
    rules=("LIVE-02",),
    scenarios=("election-on-slow-links", "active-controller-killed", "everything-killed"),
    unit="tests/cluster_impl/designs/quorum/raft",
)


def apply() -> None:
    RoleMachine._election_timeout = _fixed  # type: ignore[method-assign]
    RoleMachine._leader_timeout = _fixed_leader  # type: ignore[method-assign]
    RoleMachine._back_off = _back_off  # type: ignore[method-assign]


def _fixed(self: RoleMachine) -> float:
    return self.settings.election_timeout


def _fixed_leader(self: RoleMachine) -> float:
    return self.settings.fetch_timeout


def _back_off(self: RoleMachine, factor: float = 1.0) -> float:
    return self.settings.election_timeout * factor
