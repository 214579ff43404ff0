"""A broker that stops a replica at the request of an earlier epoch (KAFKA-9539; against DINT-06)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.broker import controller_requests
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-9539",
    designs=(ZK,),
    rules=("DINT-06",),
    scenarios=("stale-commands",),
    unit="tests/cluster_impl/designs/zk_controller/broker",
)


def apply() -> None:
    controller_requests.STOP_GUARDS = ()  # type: ignore[attr-defined, assignment]
