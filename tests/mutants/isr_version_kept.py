"""A leader that compares its ISR for ever with the version it saw first (KAFKA-2729: the ISR is frozen)."""

from __future__ import annotations

from dataclasses import replace

from cluster_impl.coordination.steps import Steps
from cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from cluster_impl.designs.leader_driven.partition.tenure import Tenure
from cluster_impl.designs.leader_driven.znodes import InSync
from cluster_impl.replication.control_plane import IsrAccepted, IsrOutcome, IsrProposal


def apply() -> None:
    alter_isr, adopt_isr = ReplicaAgent.alter_isr, Tenure.adopt_isr

    def altered(self: ReplicaAgent, proposal: IsrProposal, now: float) -> Steps[IsrOutcome]:
        outcome = yield from alter_isr(self, proposal, now)
        return replace(outcome, version=proposal.version) if isinstance(outcome, IsrAccepted) else outcome

    def adopted(self: Tenure, now: InSync) -> None:
        if not self.is_open:
            adopt_isr(self, now)

    ReplicaAgent.alter_isr = altered  # type: ignore[method-assign]
    Tenure.adopt_isr = adopted  # type: ignore[method-assign]
