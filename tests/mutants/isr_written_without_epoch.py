"""An elected leader that writes the ISR without a new epoch (against replication design V2, becomeLeader; DLD-04)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.leader_driven.partition import election
from fencepost.cluster_impl.designs.leader_driven.znodes import IsrState
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    designs=(LEADER_DRIVEN,),
    rules=("DLD-04",),
    scenarios=("v2-leader-dies-young",),
    unit="tests/mutants/test_leader_driven_guarantees.py::test_each_winner_has_an_epoch_that_no_leader_had_before",
)


def apply() -> None:
    election.IsrState = _of_the_last_epoch  # type: ignore[assignment, attr-defined]


def _of_the_last_epoch(isr: tuple[int, ...], epoch: int) -> IsrState:
    return IsrState(isr, max(epoch - 1, 0))
