"""A controller that applies an event of a process that has restarted since (against ReplicaStateEvent)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.controller.brokers import replica_state_event
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.replica_state_event import (
    OfflineReplicas,
    ReplicaEventView,
)
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("RSE-14",),
    scenarios=("late-log-dir-event",),
    unit=(
        "tests/cluster_impl/designs/zk_controller/controller/test_replica_state_event_requests.py::"
        "test_an_event_of_a_process_that_was_restarted_since_is_stopped"
    ),
)


def apply() -> None:
    guards = replica_state_event.REPLICA_STATE_EVENT_GUARDS
    kept = tuple(guard for guard in guards if guard.error is not Error.STALE_BROKER_EPOCH)
    replica_state_event.REPLICA_STATE_EVENT_GUARDS = kept  # type: ignore[assignment]
    replica_state_event.still_holds = _always


def _always(view: ReplicaEventView, event: OfflineReplicas) -> bool:
    return True
