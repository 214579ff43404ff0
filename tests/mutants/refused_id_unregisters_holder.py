"""A controller that refuses a stale process and removes the live one, too (KAFKA-1971; against decision D631-15)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.heartbeats import HeartbeatResult
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-1971",
    designs=(QUORUM,),
    rules=("D631-15",),
    scenarios=("refused-duplicate", "stale-requests", "duplicate-id-empty"),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    honest = heartbeats.heartbeat

    def confused(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
        result = honest(state, request, now)
        if result.reply.error_code == Error.STALE_BROKER_EPOCH:
            return ControllerResult(result.reply, heartbeats.end_lease(state, request.broker_id, now))
        return result

    heartbeats.heartbeat = confused
