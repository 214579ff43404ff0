"""An active controller that stays so without a majority (KAFKA-15489; against LIVE-02)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.roles import RoleMachine


def apply() -> None:
    RoleMachine._resignation_due_at = _never  # type: ignore[method-assign]


def _never(self: RoleMachine) -> float:
    return float("inf")
