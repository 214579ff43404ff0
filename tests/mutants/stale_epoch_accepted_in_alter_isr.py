"""A controller that changes an ISR for a process that lost its id (against decision D631-20: error 77)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller import alter_isr
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerState
from fencepost.cluster_impl.wire import messages as m
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("D631-20", "ISR-04"),
    scenarios=("stale-requests",),
    unit=(
        "tests/cluster_impl/designs/quorum/controller/test_alter_isr.py::"
        "test_each_guard_refuses_with_its_error_and_changes_nothing"
    ),
)


def apply() -> None:
    alter_isr.comes_from_a_stale_process = _never


def _never(state: ControllerState, request: m.AlterIsrRequest) -> bool:
    return False
