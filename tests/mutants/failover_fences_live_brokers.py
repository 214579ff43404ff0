"""A new active controller that makes every live broker register once more (KAFKA-16757; against decision D631-04)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.leases import LeaseState
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-16757",
    designs=(QUORUM,),
    rules=("D631-04",),
    scenarios=("active-controller-killed",),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    heartbeats._was_granted_only = _assumed


def _assumed(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    return state.leases.state_of(request.broker_id) is LeaseState.ASSUMED
