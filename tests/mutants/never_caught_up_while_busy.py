"""A controller that wants a starting broker at the end of a busy log (KAFKA-13959; against decision D631-06)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.leases import Leases, LeaseState
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-13959",
    designs=(QUORUM,),
    rules=("D631-11", "K631-42"),
    scenarios=("starts-behind", "starts-fenced", "everything-killed"),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    Leases.keeps_up = _at_the_end  # type: ignore[method-assign]


def _at_the_end(self: Leases, broker_id: int, reached: int, stable_offset: int, now: float) -> bool:
    lease = self._leases[broker_id]
    return reached >= stable_offset or lease.state is not LeaseState.GRANTED
