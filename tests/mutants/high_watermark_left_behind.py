"""A leader that does not look at its high watermark again when its ISR shrinks (KAFKA-13091; against HW-03)."""

from __future__ import annotations

from fencepost.cluster_impl.replication.control_plane import IsrOutcome, IsrProposal
from fencepost.cluster_impl.replication.partition import Partition
from tests.mutants.defect import ALL, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-13091",
    designs=ALL,
    rules=("ISR-05",),
    scenarios=("lone-record-after-a-shrink",),
    unit="tests/cluster_impl/replication",
)


def apply() -> None:
    lead = Partition._lead

    def settle(self: Partition, proposal: IsrProposal, outcome: IsrOutcome, now: float) -> bool:
        self.isr.settle(proposal, outcome, now)
        return False

    def lead_on(self: Partition, same_leader_term: bool, now: float) -> object:
        if same_leader_term and self.followers:
            self._advance_high_watermark = _nothing  # type: ignore[method-assign]
            try:
                return lead(self, same_leader_term, now)
            finally:
                del self._advance_high_watermark
        return lead(self, same_leader_term, now)

    Partition.isr_answered = settle  # type: ignore[method-assign]
    Partition._lead = lead_on  # type: ignore[method-assign, assignment]


def _nothing() -> bool:
    return False
