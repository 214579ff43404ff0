"""A controller that lets the holder of the id win against INITIAL (against KIP-631, Broker ID Conflicts)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.heartbeats import BrokerHeartbeatGuard
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-19047",
    designs=(QUORUM,),
    rules=("D631-12",),
    scenarios=("restart-inside-the-lease", "duplicate-id-empty"),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_heartbeats.py::"
        "test_initial_takes_the_id_at_once_and_the_original_leaves_every_isr_in_the_same_batch"
    ),
)


def apply() -> None:
    kept = tuple(guard for guard in heartbeats.BROKER_HEARTBEAT_GUARDS if guard.error is not Error.STALE_BROKER_EPOCH)
    other = BrokerHeartbeatGuard(Error.STALE_BROKER_EPOCH, _has_another_epoch)
    heartbeats.BROKER_HEARTBEAT_GUARDS = (*kept, other)  # type: ignore[assignment]


def _has_another_epoch(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    holder = state.image.brokers.get(request.broker_id)
    return holder is not None and request.broker_epoch != holder.epoch
