"""A controller for which the process that holds the id wins against INITIAL (against KIP-631, Broker ID Conflicts)."""

from __future__ import annotations

from cluster_impl.designs.quorum.controller import heartbeats
from cluster_impl.designs.quorum.controller.heartbeats import Guard
from cluster_impl.designs.quorum.controller.state import ControllerState
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error


def apply() -> None:
    kept = tuple(guard for guard in heartbeats.GUARDS if guard.error is not Error.STALE_BROKER_EPOCH)
    heartbeats.GUARDS = (*kept, Guard(Error.STALE_BROKER_EPOCH, _has_another_epoch))  # type: ignore[assignment]


def _has_another_epoch(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    holder = state.image.brokers.get(request.broker_id)
    return holder is not None and request.broker_epoch != holder.epoch
