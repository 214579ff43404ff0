"""A controller that lets inactive and stopping brokers join an ISR (KAFKA-13916, KAFKA-14140; against KIP-343)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.zk_controller.controller.brokers import isr_change
from tests.mutants.defect import ZK, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-14140",
    designs=(ZK,),
    rules=("D343-11",),
    scenarios=("silent-broker-cut", "silent-broker-stall"),
    unit="tests/cluster_impl/designs/zk_controller/controller",
)


def apply() -> None:
    kept = tuple(guard for guard in isr_change.ISR_CHANGE_GUARDS if "joins no ISR" not in guard.message)
    assert len(kept) == len(isr_change.ISR_CHANGE_GUARDS) - 2, "no guards of joining brokers"
    isr_change.ISR_CHANGE_GUARDS = kept  # type: ignore[assignment]
