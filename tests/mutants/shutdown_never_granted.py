"""A controller that never lets a stopping broker go (KAFKA-999; against KIP-631, Controlled Shutdown)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.heartbeats import HeartbeatResult
from fencepost.cluster_impl.designs.quorum.controller.leases import LeaseState
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-999",
    designs=(QUORUM,),
    rules=("K631-37",),
    scenarios=("controlled-shutdown", "rolling-restart"),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    honest = heartbeats.shut_down

    def endless(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
        if state.leases.state_of(request.broker_id) is not LeaseState.STOPPING:
            return honest(state, request, now)
        state.leases.renew(request.broker_id, now)
        return ControllerResult(heartbeats._leased(state, request, FenceState.ACTIVE, request.broker_epoch))

    heartbeats.shut_down = endless
