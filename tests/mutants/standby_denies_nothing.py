"""A controller that is not active answers a heartbeat without the error NOT_CONTROLLER (KIP-631, BrokerHeartbeat)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import requests
from fencepost.cluster_impl.designs.quorum.refused_heartbeat import refused_heartbeat
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("K631-57",),
    scenarios=("active-controller-paused",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_controller.py::"
        "test_a_deposed_controller_answers_nothing_but_not_controller"
    ),
)


def apply() -> None:
    def silent(request: m.BrokerHeartbeatRequest, error: Error, active_controller: int) -> m.BrokerHeartbeatResponse:
        return refused_heartbeat(request, Error.NONE if error is Error.NOT_CONTROLLER else error, active_controller)

    requests.refused_heartbeat = silent  # type: ignore[attr-defined]
