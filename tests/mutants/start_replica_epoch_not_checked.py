"""A broker that starts replicas for a former leader (against replication design V2, stateChangeListener)."""

from __future__ import annotations

from fencepost.cluster_impl.coordination.steps import Steps
from fencepost.cluster_impl.designs.leader_driven.state_changes import handling
from fencepost.cluster_impl.designs.leader_driven.state_changes.request import StateChangeRequest
from tests.mutants.defect import LEADER_DRIVEN, Defect

DEFECT = Defect(
    __name__,
    designs=(LEADER_DRIVEN,),
    rules=("LD-36",),
    scenarios=("v2-requests-of-the-past",),
    unit=(
        "tests/mutants/test_leader_driven_guarantees.py::"
        "test_a_request_of_an_earlier_epoch_starts_nothing_and_closes_all_the_same"
    ),
)


def apply() -> None:
    handling._later_epoch = _none


def _none(request: StateChangeRequest) -> Steps[int | None]:
    yield from ()
    return None
