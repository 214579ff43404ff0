"""A controller that names the end of a lease by its own clock, not by the start in the request (against K631-56)."""

from __future__ import annotations

import time

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-56",),
    scenarios=("drafted-requests",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_heartbeats.py::"
        "test_the_lease_ends_one_lease_period_after_the_start_that_the_request_named"
    ),
)


def apply() -> None:
    honest = heartbeats._leased

    def by_its_clock(
        state: ControllerState, request: m.BrokerHeartbeatRequest, next_state: FenceState, epoch: int
    ) -> m.BrokerHeartbeatResponse:
        response = honest(state, request, next_state, epoch)
        response.lease_end_time_ms = round((time.time() + state.leases.duration) * 1000)
        return response

    vars(heartbeats)["_leased"] = by_its_clock
