"""A controller that lets a broker become active whatever part of the metadata it has read (against K631-27)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.heartbeats import HeartbeatResult
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-27", "D631-10"),
    scenarios=("drafted-requests",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_heartbeats.py::"
        "test_a_broker_becomes_active_only_once_it_has_reached_its_own_record"
    ),
)


def apply() -> None:
    honest = heartbeats.renew

    def credulous(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
        request.cur_metadata_offset = max(request.cur_metadata_offset, state.stable_offset, request.broker_epoch)
        return honest(state, request, now)

    vars(heartbeats)["renew"] = credulous
