"""A leader that takes the refusal of a repeated ISR change for the outcome of the first attempt, which had no answer.

The first may have been made: a member is in the ISR that the leader no longer waits for (ISR-04, HW-02; KIP-497).
"""

from __future__ import annotations

import asyncio
import time

from fencepost.cluster_impl.designs.shared.isr_proposals import RETRY, IsrProposals
from fencepost.cluster_impl.replication.control_plane import IsrOutcome, IsrProposal, IsrRefused, IsrUnknown
from fencepost.cluster_impl.replication.in_sync import InSyncReplicas
from tests.mutants.defect import QUORUM, ZK, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(QUORUM, ZK),
    rules=("ISR-04", "HW-02", "ACK-01"),
    scenarios=(),
    unit="tests/mutants/unknown/test_lost_answer.py::test_the_refusal_of_a_repeated_isr_change_decides_nothing",
    kind=Kind.LOST_ANSWER,
)


def apply() -> None:
    async def change(self: IsrProposals, proposal: IsrProposal, timeout: float) -> IsrOutcome:
        deadline = time.monotonic() + timeout
        while True:
            outcome = await self._attempt(proposal, max(time.monotonic() + RETRY, deadline))
            if not isinstance(outcome, IsrUnknown) or time.monotonic() + RETRY >= deadline:
                return outcome
            await asyncio.sleep(RETRY)

    honest = InSyncReplicas.settle

    def settle(self: InSyncReplicas, proposal: IsrProposal, outcome: IsrOutcome, now: float) -> None:
        is_answer = proposal is self._in_flight
        honest(self, proposal, outcome, now)
        if is_answer and isinstance(outcome, IsrRefused):
            self._proposed = frozenset()

    IsrProposals.change = change  # type: ignore[method-assign]
    InSyncReplicas.settle = settle  # type: ignore[method-assign]
