"""A controller that grants a new epoch and answers the old one (KAFKA-16952; against decision D631-08)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from fencepost.cluster_impl.designs.quorum.controller.heartbeats import HeartbeatResult
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-16952",
    designs=(QUORUM,),
    rules=("D631-08",),
    scenarios=("quorum-lost", "sleeping-leader", "cut-from-controllers-cut"),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    honest = heartbeats.grant_anew

    def silent(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
        result = honest(state, request, now)
        result.reply.broker_epoch = request.broker_epoch
        return result

    heartbeats.grant_anew = silent
