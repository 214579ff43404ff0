"""A leader that adopts the answer to an ISR change of an earlier term (KAFKA-12686; against ISR-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.control_plane import IsrAccepted, IsrOutcome, IsrProposal
from fencepost.cluster_impl.replication.in_sync import InSyncReplicas
from tests.mutants.defect import WITH_CONTROLLER, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-12686",
    designs=WITH_CONTROLLER,
    rules=("ISR-02", "ISR-04", "HW-02"),
    scenarios=("isr-change-answered-late", "isr-change-overtaken", "isolated-leader", "isr-change-reply-lost"),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    honest = InSyncReplicas.settle

    def late(self: InSyncReplicas, proposal: IsrProposal, outcome: IsrOutcome, now: float) -> None:
        if isinstance(outcome, IsrAccepted):
            self.adopt(frozenset(outcome.isr), outcome.leader_epoch, outcome.version)
        else:
            honest(self, proposal, outcome, now)

    InSyncReplicas.settle = late  # type: ignore[method-assign]
