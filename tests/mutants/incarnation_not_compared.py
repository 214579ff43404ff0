"""A controller that takes the heartbeats of an earlier incarnation for valid (against KIP-343, Controller Logic)."""

from __future__ import annotations

from cluster_impl.designs.zk_controller.controller import heartbeats
from cluster_impl.wire.errors import Error


def apply() -> None:
    kept = tuple(guard for guard in heartbeats.GUARDS if "later incarnation" not in guard.sentence)
    assert len(kept) == len(heartbeats.GUARDS) - 1, f"no guard refuses with {Error.INVALID_INCARNATION_ID.name}"
    heartbeats.GUARDS = kept  # type: ignore[assignment]
