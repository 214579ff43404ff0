"""A leader that adopts the answer to an ISR change of an earlier term (KAFKA-12686; against ISR-04)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.control_plane import IsrAccepted, IsrOutcome, IsrProposal
from fencepost.cluster_impl.replication.in_sync import InSyncReplicas


def apply() -> None:
    honest = InSyncReplicas.settle

    def late(self: InSyncReplicas, proposal: IsrProposal, outcome: IsrOutcome, now: float) -> None:
        if isinstance(outcome, IsrAccepted):
            self.adopt(frozenset(outcome.isr), outcome.leader_epoch, outcome.version)
        else:
            honest(self, proposal, outcome, now)

    InSyncReplicas.settle = late  # type: ignore[method-assign]
