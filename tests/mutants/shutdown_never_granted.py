"""A controller that never lets a stopping broker go (KAFKA-999; against KIP-631, Controlled Shutdown)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.heartbeats import HeartbeatResult
from fencepost.cluster_impl.designs.quorum.controller.leases import LeaseState
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire import messages as m


def apply() -> None:
    honest = heartbeats.shut_down

    def endless(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
        if state.leases.state_of(request.broker_id) is not LeaseState.STOPPING:
            return honest(state, request, now)
        state.leases.renew(request.broker_id, now)
        return ControllerResult(heartbeats._leased(state, request, FenceState.ACTIVE, request.broker_epoch))

    heartbeats.shut_down = endless
