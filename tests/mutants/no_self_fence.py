"""A broker that serves on when its lease has run out (against KIP-631, Fencing; decision: lease arithmetic)."""

from __future__ import annotations

from cluster_impl.designs.quorum.broker.lifecycle import Lifecycle, Loss
from cluster_impl.designs.quorum.states import BrokerState


def apply() -> None:
    Lifecycle.serving = _serving  # type: ignore[method-assign]


def _serving(self: Lifecycle, now: float) -> bool:
    return self.state is BrokerState.ACTIVE or self.loss is Loss.RAN_OUT
