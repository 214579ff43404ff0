"""A broker that serves on when its lease has run out (against KIP-631, Fencing; decision D631-01)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.broker.lifecycle import LeaseLifecycle, LeaseLoss
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState


def apply() -> None:
    LeaseLifecycle.serving = _serving  # type: ignore[method-assign]


def _serving(self: LeaseLifecycle, now: float) -> bool:
    return self.state is FenceState.ACTIVE or self.loss is LeaseLoss.RAN_OUT
