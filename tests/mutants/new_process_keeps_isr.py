"""A controller that leaves a broker in every ISR when another process takes its id (KAFKA-14139; against DIR-04)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.heartbeats import HeartbeatResult
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14139",
    designs=(QUORUM,),
    rules=("DIR-04", "ISR-09"),
    scenarios=("emptied-and-alone", "emptied-follower", "restart-inside-the-lease", "duplicate-id-empty"),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    def trusting(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
        if request.broker_id in state.image.brokers:
            return heartbeats.grant_anew(state, request, now)
        return heartbeats._grant(state, request, (), now)

    heartbeats.grant = trusting
