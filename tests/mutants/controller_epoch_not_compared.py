"""A broker that obeys an old controller (against the internals: requests are gated by the controller epoch)."""

from __future__ import annotations

from cluster_impl.designs.zk_controller.broker import guards
from cluster_impl.wire.errors import Error


def apply() -> None:
    kept = [guard for guard in guards.REQUEST_GUARDS if guard.error is not Error.STALE_CONTROLLER_EPOCH]
    guards.REQUEST_GUARDS = kept
