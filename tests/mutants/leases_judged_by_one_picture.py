"""A controller that ends the leases of one instant by one picture of the cluster (KAFKA-13173; against CTRL-01)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.heartbeats import end_lease
from fencepost.cluster_impl.designs.quorum.controller.term import ActiveControllerTerm
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-13173",
    designs=(QUORUM,),
    rules=("ISR-01", "D631-07"),
    scenarios=("controller-and-brokers-killed",),
    unit="tests/cluster_impl/designs/quorum/controller",
)


def apply() -> None:
    ActiveControllerTerm.end_leases = _all_at_once  # type: ignore[method-assign]


def _all_at_once(self: ActiveControllerTerm, now: float) -> None:
    batches = [end_lease(self.state, broker_id, now) for broker_id in self.state.leases.over(now)]
    self._append([record for batch in batches for record in batch])
