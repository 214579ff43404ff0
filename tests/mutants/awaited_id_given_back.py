"""A controller that lets a process come back while a partition waits for its successor's records (against D631-26)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import heartbeats
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-26",),
    scenarios=("id-awaited-by-a-partition",),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    vars(heartbeats)["BROKER_HEARTBEAT_GUARDS"] = heartbeats.BROKER_HEARTBEAT_GUARDS[:-1]
