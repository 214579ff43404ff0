"""A broker that accepts new requests while it is fenced (against KIP-343, Broker-Side Heartbeat Timeout)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.broker.lifecycle import Fence, Lifecycle


def apply() -> None:
    Lifecycle.serving = _serving  # type: ignore[method-assign]


def _serving(self: Lifecycle, now: float) -> bool:
    return self.fence not in (Fence.NOT_REGISTERED, Fence.NOT_ANSWERED)
