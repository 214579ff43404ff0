"""A controller that acts on what a process reported that was restarted since (against ReplicaStateEvent)."""

from __future__ import annotations

from cluster_impl.designs.zk_controller.controller import replica_state_event
from cluster_impl.designs.zk_controller.controller.replica_state_event import ReplicasOffline, View
from cluster_impl.wire.errors import Error


def apply() -> None:
    guards = replica_state_event.GUARDS
    kept = tuple(guard for guard in guards if guard.error is not Error.STALE_BROKER_EPOCH)
    replica_state_event.GUARDS = kept  # type: ignore[assignment]
    replica_state_event.still_holds = _always


def _always(view: View, event: ReplicasOffline) -> bool:
    return True
