"""A leader that always compares its ISR with the first version that it saw (KAFKA-2729: the ISR is frozen)."""

from __future__ import annotations

from dataclasses import replace

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.leader_driven.partition.agent import ReplicaAgent
from fencepost.cluster_impl.designs.leader_driven.partition.leader_term import LeaderTerm
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState
from fencepost.cluster_impl.replication.control_plane import IsrAccepted, IsrOutcome, IsrProposal
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    kafka="KAFKA-2729",
    designs=(LEADER_DRIVEN,),
    rules=("LD-31",),
    scenarios=("v2-follower-paused",),
    unit="tests/mutants/test_leader_driven_guarantees.py::test_a_leader_changes_its_isr_as_often_as_it_has_to",
)


def apply() -> None:
    alter_isr, adopt_isr = ReplicaAgent.alter_isr, LeaderTerm.adopt_isr

    def altered(self: ReplicaAgent, proposal: IsrProposal, now: float) -> Steps[IsrOutcome]:
        outcome = yield from alter_isr(self, proposal, now)
        return replace(outcome, version=proposal.version) if isinstance(outcome, IsrAccepted) else outcome

    def adopted(self: LeaderTerm, now: IsrState) -> None:
        if not self.is_open:
            adopt_isr(self, now)

    ReplicaAgent.alter_isr = altered  # type: ignore[method-assign]
    LeaderTerm.adopt_isr = adopted  # type: ignore[method-assign]
