"""A controller that lets fenced and stopping brokers join an ISR (KAFKA-13916, KAFKA-14140; against D631-20)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import alter_isr
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-13916",
    designs=(QUORUM,),
    rules=("D631-20",),
    scenarios=("stale-requests",),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    kept = tuple(guard for guard in alter_isr.ALTER_ISR_GUARDS if guard.error is not Error.INELIGIBLE_REPLICA)
    alter_isr.ALTER_ISR_GUARDS = kept  # type: ignore[assignment]
