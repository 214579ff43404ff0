"""The response that refuses a broker's heartbeat, the same from controllers and from brokers."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import NO_EPOCH
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error


def refused_heartbeat(
    request: m.BrokerHeartbeatRequest, error: Error, active_controller: int
) -> m.BrokerHeartbeatResponse:
    """Return a response that grants and extends nothing: its lease ends at its start."""
    return m.BrokerHeartbeatResponse(
        error_code=error,
        active_controller_id=active_controller,
        next_state=FenceState.FENCED,
        broker_epoch=NO_EPOCH,
        lease_end_time_ms=request.lease_start_time_ms,
    )
